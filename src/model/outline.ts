/** An outline of a session: what was asked, the calls between, and what came of them. */

import type { FieldsOf } from "./shape.ts";

const CALL_KINDS = ["read", "edit", "run", "other"] as const;

const OUTLINE_TURN = {
  index: { of: "count", wire: "msg_idx" },
  at: "time",
  /** The beginning of what a person said, on one line. */
  text: "text",
} as const;

const OUTLINE_CALL = {
  index: { of: "count", wire: "msg_idx" },
  kind: { one: CALL_KINDS as typeof CALL_KINDS },
  failed: "flag",
  /** Of an edit that did not fail: its file, and the lines that it added and removed. */
  path: "text|null",
  added: "count",
  removed: "count",
} as const;
export interface OutlineCall extends FieldsOf<typeof OUTLINE_CALL> {}

const OUTLINE_COMMIT = {
  index: { of: "count", wire: "msg_idx" },
  hash: "text",
  subject: "text",
} as const;

export const OUTLINE = {
  /** The messages that were read, from `offset` to before `end`, of `total` on the path. */
  offset: "count",
  end: "count",
  total: "count",
  turns: [OUTLINE_TURN as typeof OUTLINE_TURN],
  calls: [OUTLINE_CALL as typeof OUTLINE_CALL],
  commits: [OUTLINE_COMMIT as typeof OUTLINE_COMMIT],
  /** The messages that contain the sought text; with `find` alone. */
  matches: { of: ["count"], about: "The messages that contain the sought text." },
} as const;
export interface Outline extends FieldsOf<typeof OUTLINE> {}
