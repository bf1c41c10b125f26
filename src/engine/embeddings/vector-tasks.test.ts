import { expect, test } from "vitest";
import type { Change } from "../../model/change.ts";
import type { JsonObject } from "../../model/json.ts";
import { type VectorTasks, vectorTasks } from "./follow-embeddings.ts";

/** Each change is a kind, a session, an entry and details. */
function check(
  changes: readonly (readonly [string, string, (string | null)?, JsonObject?])[],
  expected: Partial<VectorTasks>,
): void {
  const feed = changes.map(([kind, sessionId, entryId = null, details = {}], i) => {
    const position = i + 1;
    return { position, cursor: "", at: 0, hash: "", kind, sessionId, entryId, details };
  });
  const tasks = vectorTasks("acme", feed as unknown as Change[]);
  expect(tasks).toEqual({ messages: [], facts: [], deletions: [], ...expected });
}

test("committed messages and facts are embedded, and nothing else", () => {
  check(
    [
      ["session_created", "s"],
      ["message_opened", "s", "m1"],
      ["message_chunk", "s", "m1", { chunk: 1 }],
      ["entry_appended", "s", "m1"],
      ["entry_appended", "s", "c1", { kind: "compaction", status: "committed" }],
      ["message_aborted", "s", "m2", { kind: "message", status: "aborted" }],
      ["fact_added", "s", null, { fact: "f1" }],
    ],
    { messages: ["m1"], facts: ["f1"] },
  );
});

test("erased, superseded and deleted items are deleted, and not embedded before", () => {
  check(
    [
      ["entry_appended", "s", "m1"],
      ["entry_appended", "s", "m2"],
      ["fact_added", "s", null, { fact: "f1" }],
      ["fact_added", "s", null, { fact: "f2" }],
      ["fact_superseded", "s", null, { fact: "f1", by: "f2" }],
      ["fact_deleted", "s", null, { fact: "f0" }],
      ["content_erased", "s", null, { mode: "audit-only", ids: ["m1", "m0"] }],
    ],
    {
      messages: ["m2"],
      facts: ["f2"],
      deletions: [
        { tenant: "acme", sessionId: "s", factId: "f1" },
        { tenant: "acme", sessionId: "s", factId: "f0" },
        { tenant: "acme", sessionId: "s", entryId: "m1" },
        { tenant: "acme", sessionId: "s", entryId: "m0" },
      ],
    },
  );
});

test("a deleted session removes all of its vectors, and no others", () => {
  check(
    [
      ["entry_appended", "s", "m1"],
      ["entry_appended", "t", "m2"],
      ["fact_added", "s", null, { fact: "f1" }],
      ["fact_deleted", "s", null, { fact: "f1" }],
      ["session_deleted", "s"],
    ],
    { messages: ["m2"], deletions: [{ tenant: "acme", sessionId: "s" }] },
  );
});
