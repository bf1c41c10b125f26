/**
 * Compactions of Claude Code.
 *
 * A line with the subtype `compact_boundary` has the size of the context and the kept lines; the
 * summary is the user's line after it. Older files have the summary alone.
 */

import { isPlainObject } from "../../model/json.ts";
import { type Fields, nameOf, presentFields, textField, timeField } from "../fields.ts";
import { toBlocks } from "./claude-blocks.ts";
import type { MappedEntry } from "./claude-lines.ts";

export interface MappedCompaction {
  readonly entry: MappedEntry;
  /** The last kept line: its children follow the summary here. */
  readonly tails: readonly string[];
}

/** Undefined without a summary. `nodeAt` finds the entry of a line. */
export function toCompaction(
  record: Fields,
  boundary: Fields | undefined,
  nodeAt: (uuid: string) => string | null | undefined,
): MappedCompaction | undefined {
  const { message } = record;
  const blocks = isPlainObject(message) ? toBlocks(message["content"]) : undefined;
  if (blocks === undefined || blocks.length === 0) return undefined;
  const told = boundary?.["compactMetadata"];
  const figures = isPlainObject(told) ? told : {};
  const { first, last } = keptOf(figures);
  const head = nodeAt(first) ?? null;
  const before = figures["preTokens"];
  return {
    entry: {
      kind: "compaction",
      role: null,
      actor: null,
      blocks,
      usage: null,
      model: null,
      data: {
        firstKeptEntryId: head,
        tokensBefore: Number.isSafeInteger(before) ? (before as number) : null,
        ...presentFields({ trigger: textField(figures, "trigger") }),
      },
      references: ["firstKeptEntryId"],
      createdAt: timeField(record, "timestamp"),
      metadata: record["isSidechain"] === true ? { sidechain: true } : {},
      fields: {},
    },
    tails: head !== null && nodeAt(last) !== undefined ? [last] : [],
  };
}

/** The first and last kept line: a range, or a list. */
function keptOf(figures: Fields): { readonly first: string; readonly last: string } {
  const { preservedSegment: range, preservedMessages: list } = figures;
  if (isPlainObject(range)) {
    return { first: textField(range, "headUuid") ?? "", last: textField(range, "tailUuid") ?? "" };
  }
  const uuids = isPlainObject(list) && Array.isArray(list["uuids"]) ? list["uuids"] : [];
  return { first: nameOf(uuids[0] ?? ""), last: nameOf(uuids.at(-1) ?? "") };
}
