/**
 * claw-code's sessions, as one JSON object (version 1, or the one that the imported file named) or
 * as JSON lines (a record for the session, its compaction and each message, with keys in its
 * documented order).
 *
 * claw-code represents a compacted session as a system message with the continuation, followed by
 * the kept messages.
 */

import { continuationMessage, renderSummary } from "../compaction/render.ts";
import { isStructure } from "../compaction/summary.ts";
import { type Block, inputTextOf, textOf } from "../model/block.ts";
import { type Entry, kindRules } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import type { Session } from "../model/session.ts";
import { hasOwnMetadata, sourceFieldsOf } from "../transcript/source-fields.ts";
import { givenTitle } from "../transcript/title/title-text.ts";
import type { ExportFormat, ExportInput } from "./format.ts";
import { countKind, type LossLog } from "./format.ts";

export const CLAW_JSON: ExportFormat = {
  name: "claw-json",
  selects: "path",
  compacts: true,

  async *write(input, losses) {
    const compaction = await findCompaction(input);
    const asked: JsonObject[] = [];
    const { version = 1, ...meta } = clawMeta(input.session, losses);
    yield `{\n  "version": ${JSON.stringify(version)},\n  "messages": [`;
    let before = "\n    ";
    for await (const part of clawParts(input, compaction, losses)) {
      if ("message" in part) {
        yield before + JSON.stringify(part.message);
        before = ",\n    ";
      } else asked.push(part.asked);
    }
    yield before === "\n    " ? "]" : "\n  ]";
    const rest: JsonObject = {
      ...(compaction === undefined ? {} : { compaction: compaction.record }),
      ...meta,
      ...(asked.length === 0 ? {} : { prompt_history: asked }),
    };
    for (const [name, value] of Object.entries(rest)) {
      yield `,\n  ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    }
    yield "\n}\n";
  },
};

export const CLAW_JSONL: ExportFormat = {
  name: "claw-jsonl",
  selects: "path",
  compacts: true,

  async *write(input, losses) {
    const { session } = input;
    const compaction = await findCompaction(input);
    // Required by the format, also for a session without them.
    const needed = {
      session_id: session.id,
      created_at_ms: session.startedAt,
      updated_at_ms: session.updatedAt,
    };
    const meta = { type: "session_meta", version: 1, ...needed, ...clawMeta(session, losses) };
    yield `${JSON.stringify(meta)}\n`;
    if (compaction !== undefined) {
      yield `${JSON.stringify({ type: "compaction", ...compaction.record })}\n`;
    }
    for await (const part of clawParts(input, compaction, losses)) {
      const record = "message" in part ? { type: "message", message: part.message } : part.asked;
      yield `${JSON.stringify(record)}\n`;
    }
  },
};

/** Parts to write, in order: messages, and the user's prompts. */
type ClawPart = { readonly message: JsonObject } | { readonly asked: JsonObject };

/** The compaction on the path, and its kept messages. */
interface ClawCompaction {
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
async function findCompaction(input: ExportInput): Promise<ClawCompaction | undefined> {
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

async function* clawParts(
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
function clawMeta(session: Session, losses: LossLog): JsonObject {
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

const FORMAT = "claw-code";

/** Undefined if the format cannot hold the entry. */
function toClawMessage(entry: Entry, losses: LossLog): JsonObject | undefined {
  if (entry.kind === "custom_message") losses.add("custom messages written as the user's");
  else if (entry.kind !== "message") {
    countKind(entry, losses);
    return undefined;
  }
  if (entry.status === "aborted") {
    losses.add("aborted messages");
    return undefined;
  }
  const blocks = entry.blocks.flatMap((block) => toClawBlock(block, losses));
  if (blocks.length === 0 && entry.blocks.length > 0) {
    losses.add("messages");
    return undefined;
  }
  const source = sourceFieldsOf(entry, FORMAT);
  if (source === undefined) countFields(entry, losses);
  const { usage } = entry;
  return {
    role: entry.role ?? "user",
    blocks,
    ...(usage === null
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            output_tokens: usage.outputTokens,
            cache_creation_input_tokens: usage.cacheCreationTokens,
            cache_read_input_tokens: usage.cacheReadTokens,
          },
        }),
    ...source?.fields,
  };
}

function countFields(entry: Entry, losses: LossLog): void {
  losses.add("times of messages");
  if (entry.actor !== null) losses.add("actors of messages");
  if (entry.pinned) losses.add("pins");
  if (hasOwnMetadata(entry.metadata)) losses.add("metadata of messages");
}

function toClawBlock(block: Block, losses: LossLog): JsonValue[] {
  switch (block.type) {
    case "text": {
      const { type, text, ...rest } = block;
      return [{ type, text, ...rest }];
    }
    case "thinking": {
      const { type, text, ...rest } = block;
      return [{ type, thinking: text, ...rest }];
    }
    case "tool_use": {
      const { type, id, name, input: _, inputText: __, ...rest } = block;
      return [{ type, id, name, input: inputTextOf(block), ...rest }];
    }
    case "tool_result": {
      const { type, toolUseId, toolName, output, isError, ...rest } = block;
      const text = typeof output === "string" ? output : outputText(output, losses);
      return [
        {
          type,
          tool_use_id: toolUseId,
          tool_name: toolName ?? "",
          output: text,
          is_error: isError,
          ...rest,
        },
      ];
    }
    case "image":
      losses.add("images");
      return [];
    case "opaque":
      if (block.provider === FORMAT) return [JSON.parse(block.json) as JsonValue];
      losses.add("blocks of other providers");
      return [];
  }
}

function outputText(blocks: readonly Block[], losses: LossLog): string {
  const texts = blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    losses.add(block.type === "image" ? "images" : "blocks inside results");
    return [];
  });
  return texts.join("\n");
}
