/**
 * Shared by both formats of claw-code: the written entries and the session's metadata.
 *
 * claw-code represents a compacted session as a system message with the continuation, followed by
 * the kept messages.
 */

import { continuationMessage, renderSummary } from "../../compaction/render.ts";
import { isStructure } from "../../compaction/summary.ts";
import { textOf } from "../../model/block.ts";
import { type Entry, kindRules } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import type { Session } from "../../model/session.ts";
import { sourceFieldsOf } from "../../transcript/source-fields.ts";
import { givenTitle } from "../../transcript/title/made-title.ts";
import type { ExportInput } from "../format.ts";
import type { LossLog } from "../losses.ts";
import { toClawMessage } from "./claw-message.ts";

/** Parts to write, in order: messages, and the user's prompts. */
export type ClawPart = { readonly message: JsonObject } | { readonly asked: JsonObject };

/** The compaction on the path, and its kept messages. */
export interface ClawCompaction {
  readonly entry: Entry;
  readonly firstKept: string | null;
  /** The record of it. */
  readonly record: JsonObject;
  /** The last covered entry, if recorded. */
  readonly through: string | null;
  /** Pinned messages that the compaction does not cover. */
  readonly pinned: ReadonlySet<string>;
}

/** The path's last compaction, unless everything is requested. Reads the path once. */
export async function findCompaction(input: ExportInput): Promise<ClawCompaction | undefined> {
  if (input.full) return undefined;
  let found: Entry | undefined;
  let count = 0;
  /** Messages before each possible first kept one: only the last matters. */
  let covered = 0;
  let removed = 0;
  const places = new Map<string, number>();
  for await (const entry of input.entries()) {
    if (kindRules(entry.kind).movesLeaf) places.set(entry.id, covered);
    if (entry.kind === "message" && entry.status === "committed") covered++;
    if (entry.kind !== "compaction") continue;
    found = entry;
    count++;
    removed = places.get(String(dataOf(entry)["firstKeptEntryId"])) ?? covered;
  }
  if (found === undefined) return undefined;
  const data = dataOf(found);
  const { firstKeptEntryId } = data;
  const kept = typeof firstKeptEntryId === "string" && places.has(firstKeptEntryId);
  const source = sourceFieldsOf(found, "claw-code");
  return {
    entry: found,
    firstKept: kept ? firstKeptEntryId : null,
    through: typeof data["through"] === "string" ? data["through"] : null,
    pinned: new Set(Array.isArray(data["pinned"]) ? data["pinned"].map(String) : []),
    record: {
      count: source === undefined ? count : (data["count"] ?? count),
      removed_message_count: source === undefined ? removed : (data["removedMessages"] ?? removed),
      summary: textOf(found.blocks),
      ...source?.fields,
    },
  };
}

export async function* clawParts(
  input: ExportInput,
  compaction: ClawCompaction | undefined,
  losses: LossLog,
): AsyncGenerator<ClawPart> {
  // Buffered until it is known whether anything is kept, which the continuation states.
  let continuation: Entry | undefined = compaction?.entry;
  let isKept = compaction === undefined;
  let isThrough = false;
  for await (const entry of input.entries()) {
    const asked = askedOf(entry);
    if (asked !== undefined) {
      yield { asked };
      continue;
    }
    if (entry.id === compaction?.firstKept) isKept = true;
    if (entry.id === compaction?.entry.id) {
      isKept = true;
      continue;
    }
    // Entries appended during a summary of everything precede the compaction, and are kept.
    if (isThrough) isKept = true;
    isThrough = compaction?.firstKept === null && entry.id === compaction.through;
    if (entry.kind === "compaction") {
      if (input.full) losses.add("summaries");
      continue;
    }
    if (!isKept && !compaction?.pinned.has(entry.id)) {
      if (entry.kind === "message") losses.add("summarised messages");
      continue;
    }
    const message = toClawMessage(entry, losses);
    if (message === undefined) continue;
    if (continuation !== undefined) yield continuationOf(continuation, true);
    continuation = undefined;
    yield { message };
  }
  if (continuation !== undefined) yield continuationOf(continuation, false);
}

/** The session's metadata, in the order of the format's documents. */
export function clawMeta(session: Session, losses: LossLog): JsonObject {
  const source = sourceFieldsOf(session, "claw-code");
  if (givenTitle(session) !== "") losses.add("titles");
  // Version 1 has messages only: a session without an id is written without one.
  if (source !== undefined && source.id === null) return { ...source.fields };
  const { projectPath } = session.origin;
  const { model, ...fields } = source?.fields ?? {};
  return {
    session_id: source?.id ?? session.id,
    created_at_ms: session.startedAt,
    updated_at_ms: session.updatedAt,
    ...fields,
    ...(projectPath === undefined ? {} : { workspace_root: projectPath }),
    ...(model === undefined ? {} : { model }),
  };
}

function continuationOf(entry: Entry, tailKept: boolean): ClawPart {
  const { continuation } = dataOf(entry);
  const text =
    typeof continuation === "string"
      ? continuation
      : continuationMessage(summaryOf(entry), { tailKept });
  return { message: { role: "system", blocks: [{ type: "text", text }] } };
}

/** A mechanical summary is written in claw-code's own form; others keep their text. */
function summaryOf(entry: Entry): string {
  const { structure, summarizer } = dataOf(entry);
  const isMechanical = typeof summarizer === "string" && summarizer.startsWith("mechanical");
  if (!isMechanical || !isStructure(structure)) return textOf(entry.blocks);
  return renderSummary(structure, "claw");
}

/** The user's typed prompts, which claw-code keeps apart from the conversation. */
function askedOf(entry: Entry): JsonObject | undefined {
  const { type, data } = dataOf(entry);
  const isAsked = entry.kind === "custom" && type === "prompt_history" && isPlainObject(data);
  return isAsked ? { type: "prompt_history", ...(data as JsonObject) } : undefined;
}

function dataOf(entry: Entry): Readonly<Record<string, JsonValue>> {
  return isPlainObject(entry.data) ? (entry.data as JsonObject) : {};
}
