import { expect, test } from "vitest";
import { tellReport } from "./words.ts";

const WHOLE = { ok: true, entries: 1, changes: 2_000, damage: [], problems: [], problemCount: 0 };

test("a verification reports findings in files and in hashes", () => {
  expect(tellReport(WHOLE)).toBe("No problem: the hashes of 1 entry and 2,000 changes match.");
  const damage = ["the index sessions_by_time is missing"];
  expect(tellReport({ ...WHOLE, ok: false, damage })).toBe(
    "1 problem, the first: the index sessions_by_time is missing",
  );
  const problem = { tenant: "acme", sessionId: "s1", entryId: null, problem: "its hash differs" };
  expect(tellReport({ ...WHOLE, ok: false, problems: [problem], problemCount: 1_200 })).toBe(
    "1,200 problems, the first: its hash differs (s1)",
  );
});
