/** The report of a verification as one sentence. */

import type { RemoteEngine } from "../../client/index.ts";
import { counted } from "../parts/words.ts";

type VerifyReport = Awaited<ReturnType<RemoteEngine["verify"]>>;

export function tellReport(report: Omit<VerifyReport, "tenants" | "sessions" | "heads">): string {
  const { ok, entries, changes, damage, problems, problemCount } = report;
  if (ok) {
    return `No problem: the hashes of ${counted(entries, "entry", "entries")} and ${counted(changes, "change")} match.`;
  }
  const places = problems.map(
    ({ problem, entryId, sessionId, tenant }) => `${problem} (${entryId ?? sessionId ?? tenant})`,
  );
  const [first] = [...damage, ...places];
  const count = counted(damage.length + problemCount, "problem");
  return first === undefined ? `${count}.` : `${count}, the first: ${first}`;
}
