/**
 * Summaries of sessions, as the SDK folds them.
 *
 * A summary is derived from the transcript alone, and folded lazily: a listing folds the lines
 * appended since the last one, and stores the result in a record. So appends need no lock.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import { toLine } from "./entry-mapping.ts";
import type { ClaudeSummary, FoldSummary } from "./sdk-types.ts";
import { SOURCE } from "./transcript-key.ts";

/** Records of summaries are under the ids of their sessions. */
export const SUMMARIES: string = `${SOURCE}/summaries`;

/** The record of a session: its summary, the entries that it covers, and the last of them. */
interface Folded {
  readonly data: Record<string, unknown>;
  readonly entries: number;
  readonly last: string;
}

export interface ListedSession {
  readonly sessionId: string;
  readonly session: Session;
}

export async function readSummaries(
  tenant: TenantApi,
  projectKey: string,
  sessions: readonly ListedSession[],
  loadFold: () => Promise<FoldSummary>,
): Promise<ClaudeSummary[]> {
  const summaries: ClaudeSummary[] = [];
  for (let i = 0; i < sessions.length; i += MAX_PAGE) {
    const page = sessions.slice(i, i + MAX_PAGE);
    const stored = await tenant.records.getMany(
      SUMMARIES,
      page.map(({ session }) => session.id),
    );
    for (const [n, { sessionId, session }] of page.entries()) {
      const known = toFolded(stored[n]?.value);
      const folded =
        known?.entries === session.entryCount
          ? known
          : await foldMore(tenant, { projectKey, sessionId }, session, known, await loadFold());
      if (folded === undefined) continue;
      summaries.push({ sessionId, mtime: session.lastWriteAt, data: folded.data });
    }
  }
  return summaries;
}

/** Undefined if the session has no line. */
async function foldMore(
  tenant: TenantApi,
  key: { projectKey: string; sessionId: string },
  session: Session,
  known: Folded | undefined,
  fold: FoldSummary,
): Promise<Folded | undefined> {
  const { sessionId } = key;
  const mtime = session.lastWriteAt;
  let summary = known && { sessionId, mtime, data: known.data };
  let { entries, last } = known ?? { entries: 0, last: "" };
  const handle = tenant.session(session.id);
  for (let after: string | undefined = last; after !== undefined; ) {
    const start = after === "" ? {} : { after };
    const page = await handle.listEntries({ tree: true, limit: MAX_PAGE, ...start });
    const lines = page.entries.flatMap((entry) => {
      const line = toLine(entry);
      return line === undefined ? [] : [line];
    });
    if (lines.length > 0) summary = fold(summary, key, lines, { mtime });
    entries += page.entries.length;
    last = page.entries.at(-1)?.id ?? last;
    after = page.next;
  }
  if (summary === undefined) return undefined;
  const folded: Folded = { data: summary.data, entries, last };
  const value = folded as unknown as JsonObject;
  await tenant.records.put({ namespace: SUMMARIES, key: session.id, value });
  return folded;
}

function toFolded(value: unknown): Folded | undefined {
  if (!isPlainObject(value)) return undefined;
  const { data, entries, last } = value;
  if (!isPlainObject(data) || typeof entries !== "number" || typeof last !== "string") {
    return undefined;
  }
  return { data, entries, last };
}
