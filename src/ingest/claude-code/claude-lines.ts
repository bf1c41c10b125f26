/** Maps lines of Claude Code by type to entries, without their places. */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import type { RecentMap } from "../../model/recent-map.ts";
import {
  type Fields,
  isEmpty,
  nameOf,
  otherFields,
  presentFields,
  setField,
  textField,
  thinkingBlock,
  timeField,
  toCallBlock,
  toTextBlock,
  type Writable,
} from "../fields.ts";
import { isMasked } from "../fingerprint.ts";
import type { ImportedEntry } from "../source.ts";
import type { QueuedPrompt } from "./claude-queue.ts";
import { hourTokensOf, toUsage, USAGE_FIELDS } from "./claude-usage.ts";

/** An entry without its place and ids. */
export type MappedEntry = Omit<ImportedEntry, "sourceId" | "parentSourceId" | "metadata"> & {
  readonly metadata: JsonObject;
  readonly fields: JsonObject;
};

export interface MappedMessage {
  /** Two for a line with results and user text; results come first. */
  readonly entries: readonly MappedEntry[];
  /** The id shared by all lines of one answer. */
  readonly answer?: string | undefined;
  readonly calls: readonly string[];
  readonly results: readonly string[];
  /** An answer of Claude Code itself, such as a network error. */
  readonly isSynthetic?: boolean;
}

/** Context for the parsing of a line. */
export interface LineContext {
  /** Tool names of open calls, by call id. */
  readonly toolNames: RecentMap<string, string>;
  /** Fields that nearly every line repeats: stored with the session. */
  readonly common: JsonObject;
}

/** Fields of a line's place and time. */
const BASE: ReadonlySet<string> = new Set([
  "type",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "timestamp",
  "isSidechain",
  "message",
]);

const NONE: readonly string[] = [];

/** Undefined if it is not a message of a user or an assistant. */
export function toMessage(record: Fields, context: LineContext): MappedMessage | undefined {
  const { type, message } = record;
  const role = type === "assistant" || type === "user" ? type : undefined;
  if (role === undefined || !isPlainObject(message)) return undefined;
  const blocks = toBlocks(message["content"]);
  if (blocks === undefined) return undefined;
  const { common, toolNames } = context;
  if (role === "assistant") return toAnswer(record, message, blocks, common);
  const fields = keptFields(record, messageFields(message), common);
  const isResult = (block: Block) => block.type === "tool_result";
  if (!blocks.some(isResult)) {
    return { entries: [toEntry(record, "user", blocks, fields)], calls: NONE, results: NONE };
  }
  const results = blocks
    .filter((block) => block.type === "tool_result")
    .map((block) => withName(block, toolNames));
  const actor = results.length === 1 ? (results[0]?.toolName ?? null) : null;
  const answered = toEntry(record, "tool", results, fields, actor);
  const others = blocks.filter((block) => !isResult(block));
  const said = () => toEntry(record, "user", others, otherFields(fields, ["toolUseResult"]));
  return {
    entries: others.length === 0 ? [answered] : [answered, said()],
    calls: NONE,
    results: results.map(({ toolUseId }) => toolUseId),
  };
}

/** A queued prompt without another line. */
export function toDeliveredPrompt({ text, at }: QueuedPrompt): MappedEntry {
  const entry = toEntry({}, "user", [{ type: "text", text }], { queued: true });
  return { ...entry, createdAt: at };
}

/** The queued prompt of an attachment; undefined for other attachments. */
export function toAttachedPrompt(
  record: Fields,
  { common }: LineContext,
): MappedMessage | undefined {
  const { attachment } = record;
  if (!isPlainObject(attachment) || attachment["type"] !== "queued_command") return undefined;
  const blocks = toBlocks(attachment["prompt"]);
  if (blocks === undefined || blocks.length === 0) return undefined;
  const mode = attachment["commandMode"];
  const fields = presentFields({
    ...otherFields(keptFields(record, {}, common), ["attachment"]),
    attachment: otherFields(attachment, ["prompt"]),
  });
  const entry = toEntry(record, "user", blocks, fields);
  const isTyped = mode === undefined || mode === "prompt" || mode === "bash";
  const metadata = isTyped ? entry.metadata : { ...entry.metadata, injected: true };
  return { entries: [{ ...entry, metadata }], calls: NONE, results: NONE };
}

function toAnswer(
  record: Fields,
  message: Fields,
  blocks: readonly Block[],
  common: JsonObject,
): MappedMessage {
  const id = answerOf(message);
  const model = textField(message, "model");
  // Messages of Claude Code itself, such as network errors, name no model.
  const named = model !== undefined && model !== "<synthetic>";
  const { usage } = message;
  const kept = messageFields(message, named ? ["usage", "model"] : ["usage"]);
  const rest = isPlainObject(usage) ? presentFields(otherFields(usage, USAGE_FIELDS)) : {};
  if (!isEmpty(rest)) kept["usage"] = rest;
  const entry: Writable<MappedEntry> = {
    kind: "message",
    role: "assistant",
    actor: "claude-code",
    blocks,
    data: null,
    usage: toUsage(usage),
    model: named ? model : null,
    createdAt: timeField(record, "timestamp"),
    fields: keptFields(record, kept, common),
    metadata: {
      ...(record["isSidechain"] === true ? { sidechain: true } : {}),
      ...hourTokensOf(usage),
    },
  };
  const calls: string[] = [];
  for (const block of blocks) if (block.type === "tool_use") calls.push(block.id);
  // Without an id, lines cannot belong together.
  if (id) entry.answer = id;
  const isSynthetic = model === "<synthetic>";
  return { entries: [entry], answer: id || undefined, calls, results: NONE, isSynthetic };
}

/**
 * The id of an answer. A masked one is the same for all, so the usage before the answer tells them
 * apart: it is the same in all lines of one.
 */
function answerOf({ id, usage }: Fields): string | undefined {
  if (typeof id !== "string" || !isMasked(id)) return typeof id === "string" ? id : undefined;
  const counts = toUsage(usage);
  if (counts === null) return id;
  return `${id} ${counts.inputTokens} ${counts.cacheCreationTokens} ${counts.cacheReadTokens}`;
}

function toEntry(
  record: Fields,
  role: Role,
  blocks: readonly Block[],
  fields: JsonObject,
  actor: string | null = null,
): MappedEntry {
  const metadata: Record<string, JsonValue> = {};
  if (role === "user" && isInjected(record, blocks)) metadata["injected"] = true;
  if (record["isSidechain"] === true) metadata["sidechain"] = true;
  return {
    kind: "message",
    role,
    actor,
    blocks,
    data: null,
    usage: null,
    model: null,
    createdAt: timeField(record, "timestamp"),
    fields,
    metadata,
  };
}

/** A line that Claude Code wrote in the user's name. */
function isInjected(record: Fields, blocks: readonly Block[]): boolean {
  if (record["isMeta"] === true || record["isVisibleInTranscriptOnly"] === true) return true;
  if (record["promptSource"] === "system") return true;
  const texts = blocks.map((block) => (block.type === "text" ? block.text : undefined));
  return texts.length > 0 && texts.every((text) => text !== undefined && INJECTED.test(text));
}

const INJECTED =
  /^\s*<(local-command-(?:stdout|stderr|caveat)|bash-std(?:out|err)|system-reminder|task-notification)>.*<\/(?:\1|bash-stderr)>\s*$/s;

function withName(block: ToolResultBlock, names: RecentMap<string, string>): ToolResultBlock {
  const toolName = names.get(block.toolUseId);
  return toolName === undefined ? block : { ...block, toolName };
}

/** Fields of a message worth keeping beside its content. An answer is always a message. */
function messageFields(
  message: Fields,
  known: readonly string[] = NONE,
): Record<string, JsonValue> {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(message)) {
    const value = message[name] as JsonValue;
    if (name === "role" || name === "content" || known.includes(name) || isEmpty(value)) continue;
    if (name === "type" && value === "message") continue;
    if ((name === "stop_reason" || name === "stop_sequence") && value === null) continue;
    setField(kept, name, value);
  }
  return kept;
}

/** Fields without a place of their own. Hot path: one pass per line. */
function keptFields(record: Fields, message: JsonObject, common: JsonObject): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(record)) {
    if (BASE.has(name)) continue;
    const value = record[name] as JsonValue;
    if (isEmpty(value) || (value === common[name] && Object.hasOwn(common, name))) continue;
    setField(kept, name, value);
  }
  if (!isEmpty(message)) kept["message"] = message;
  return kept;
}

/** The blocks of `content`, a text or a list of blocks; undefined if it is neither. */
export function toBlocks(content: unknown): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map((block) => toBlock(block, "anthropic")) : undefined;
}

function toBlock(content: unknown, provider?: string): Block {
  if (typeof content === "string") return { type: "text", text: content };
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  if (known !== undefined) return known;
  const json = JSON.stringify(content);
  return provider === undefined ? { type: "opaque", json } : { type: "opaque", provider, json };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "signature");
      if (text === undefined) return undefined;
      const more = otherFields(fields, ["type", "thinking", "signature"]);
      return thinkingBlock(text, signature, more);
    }
    case "tool_use":
      return toCallBlock(fields, "input");
    case "tool_result":
      return toToolResult(fields);
    case "image":
      return toImage(fields);
    default:
      return undefined;
  }
}

function toToolResult(fields: Fields): Block | undefined {
  const toolUseId = textField(fields, "tool_use_id");
  if (toolUseId === undefined) return undefined;
  return {
    ...otherFields(fields, ["type", "tool_use_id", "content", "is_error"]),
    type: "tool_result",
    toolUseId,
    output: toOutput(fields["content"]),
    isError: fields["is_error"] === true,
  };
}

/** A string if it is a single text, otherwise blocks. Outputs have no provider metadata. */
export function toOutput(content: unknown): string | Block[] {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const blocks = (Array.isArray(content) ? content : [content]).map((block) => toBlock(block));
  const [only] = blocks;
  const isText = blocks.length === 1 && only?.type === "text" && Object.keys(only).length === 2;
  return isText ? only.text : blocks;
}

function toImage(fields: Fields): Block | undefined {
  const { source } = fields;
  if (!isPlainObject(source)) return undefined;
  const rest = otherFields(fields, ["type", "source"]);
  const mediaType = textField(source, "media_type");
  const data = textField(source, "data");
  if (source["type"] === "base64" && mediaType !== undefined && data !== undefined) {
    return { ...rest, type: "image", mediaType, data };
  }
  const url = textField(source, "url");
  return source["type"] === "url" && url !== undefined
    ? { ...rest, type: "image", url }
    : undefined;
}

/**
 * Compactions of Claude Code.
 *
 * A line with the subtype `compact_boundary` has the size of the context and the kept lines; the
 * summary is the user's line after it. Older files have the summary alone.
 */
interface MappedCompaction {
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

// Lines of Claude Code that are not messages: hooks, turn durations, attachments, modes. They are
// kept whole as custom data under their type, known or not.

/** Fields of the line's place; `cwd` and the like belong to the session. */
const PLACE = [
  "type",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "timestamp",
  "isSidechain",
  "sessionId",
  "cwd",
  "gitBranch",
  "version",
  "userType",
  "entrypoint",
];

export function toCustom(record: Fields): MappedEntry {
  const subtype = textField(record, "subtype");
  const type = [nameOf(record["type"] ?? "unknown"), ...(subtype === undefined ? [] : [subtype])];
  return {
    kind: "custom",
    role: null,
    actor: null,
    blocks: [],
    usage: null,
    model: null,
    data: { type: `claude-code:${type.join(":")}`, data: otherFields(record, PLACE) },
    createdAt: timeField(record, "timestamp"),
    metadata: record["isSidechain"] === true ? { sidechain: true } : {},
    fields: {},
  };
}
