/**
 * Marks: a person's word that a message, or a whole session, does not hold: it is wrong, or replaced
 * by another. A mark is an entry of the kind `label`, and so in the hash chain, exports and the feed;
 * a later one about the same takes it back or takes its place.
 */

import type { FieldsOf } from "./shape.ts";

export const MARK_KINDS = ["wrong", "replaced"] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** A message, or a session. */
export const PLACE = {
  sessionId: "text",
  shortId: "text",
  entryId: "text|null",
  index: { of: "count|null", wire: "msg_idx" },
} as const;
export interface Place extends FieldsOf<typeof PLACE> {}

export const MARK = {
  /** The marked message; null: the whole session. */
  entryId: "text|null",
  index: { of: "count|null", wire: "msg_idx" },
  kind: { one: MARK_KINDS as typeof MARK_KINDS },
  /** Why it does not hold. */
  reason: "text",
  /** The actor that set the mark; null: unknown. */
  actor: "text|null",
  createdAt: "time",
  /** What replaced it, unless that was deleted since. */
  replacedBy: {
    of: PLACE as typeof PLACE,
    null: true,
    about: "What replaced it, unless that was deleted since.",
  },
} as const;
export interface Mark extends FieldsOf<typeof MARK> {}

/** A mark as it is stored. */
export interface StoredMark extends Omit<Mark, "index" | "replacedBy"> {
  /** The id of a message or a session. */
  readonly replacedBy: string | null;
}

/** The data of a mark's entry; `mark` is null where the mark is taken back. */
export interface MarkData {
  /** The marked message; null: the whole session. */
  readonly targetId: string | null;
  readonly mark: MarkKind | null;
  readonly reason?: string;
  readonly replacedBy?: string;
}

/** Whether a label's data is that of a mark. */
export function isMarkData(data: unknown): data is MarkData {
  return typeof data === "object" && data !== null && "mark" in data;
}

/** The marks that stand, of a session's labels in the order of the log. */
export function standingMarks(
  labels: readonly { data: unknown; actor: string | null; createdAt: number }[],
): StoredMark[] {
  const marks = new Map<string | null, StoredMark>();
  for (const { data, actor, createdAt } of labels) {
    if (!isMarkData(data)) continue;
    const entryId = textOrNull(data.targetId);
    marks.delete(entryId);
    const { mark: kind } = data;
    if (kind === null || !MARK_KINDS.includes(kind)) continue;
    const [reason, replacedBy] = [textOrNull(data.reason) ?? "", textOrNull(data.replacedBy)];
    marks.set(entryId, { entryId, kind, reason, actor, createdAt, replacedBy });
  }
  return [...marks.values()];
}

/** The mark of a message, else that of its session. */
export function markOf(
  marks: readonly StoredMark[],
  entryId: string | undefined,
): StoredMark | undefined {
  return (
    marks.find((mark) => mark.entryId !== null && mark.entryId === entryId) ??
    marks.find((mark) => mark.entryId === null)
  );
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
