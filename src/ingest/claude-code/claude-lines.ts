/** Lines of Claude Code by their type, and the entries that they are here, but for their place. */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import {
  type Fields,
  isEmpty,
  otherFields,
  presentFields,
  setField,
  textField,
  timeField,
} from "../fields.ts";
import type { ImportedEntry } from "../source.ts";
import { toBlocks } from "./claude-blocks.ts";
import { toUsage, USAGE_FIELDS } from "./claude-usage.ts";

/** Everything of an entry but its place and its ids. */
export type MappedEntry = Omit<ImportedEntry, "sourceId" | "parentSourceId" | "metadata"> & {
  readonly metadata: JsonObject;
  readonly fields: JsonObject;
};

export interface MappedMessage {
  /** Two for a line that holds results and words of the user's; the results come first. */
  readonly entries: readonly MappedEntry[];
  /** The id that all lines of one answer share. */
  readonly answer?: string | undefined;
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

/** Fields that say where a line stands and when. */
const BASE = [
  ...["type", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "isSidechain", "message"],
];

/** Undefined if it is no message of a user or an assistant. */
export function toMessage(
  record: Fields,
  toolNames: ReadonlyMap<string, string>,
): MappedMessage | undefined {
  const { type, message } = record;
  const role = type === "assistant" || type === "user" ? type : undefined;
  if (role === undefined || !isPlainObject(message)) return undefined;
  const blocks = toBlocks(message["content"]);
  if (blocks === undefined) return undefined;
  if (role === "assistant") return toAnswer(record, message, blocks);
  const results = blocks
    .filter((block) => block.type === "tool_result")
    .map((block) => withName(block, toolNames));
  const others = blocks.filter((block) => block.type !== "tool_result");
  const fields = keptFields(record, messageFields(message));
  const said = toEntry(record, "user", others, otherFields(fields, ["toolUseResult"]));
  if (results.length === 0) return { entries: [{ ...said, fields }], calls: [], results: [] };
  const [only] = results;
  const answered = {
    ...toEntry(record, "tool", results, fields),
    actor: results.length === 1 ? (only?.toolName ?? null) : null,
  };
  return {
    entries: others.length === 0 ? [answered] : [answered, said],
    ...{ calls: [], results: results.map(({ toolUseId }) => toolUseId) },
  };
}

/** Words of the user that were waiting while the agent worked; undefined if it is anything else. */
export function toQueuedPrompt(record: Fields): MappedMessage | undefined {
  const { attachment } = record;
  if (!isPlainObject(attachment) || attachment["type"] !== "queued_command") return undefined;
  const blocks = toBlocks(attachment["prompt"]);
  if (blocks === undefined || blocks.length === 0) return undefined;
  const mode = attachment["commandMode"];
  const fields = presentFields({
    ...otherFields(record, [...BASE, "attachment"]),
    attachment: otherFields(attachment, ["prompt"]),
  });
  const entry = toEntry(record, "user", blocks, fields);
  const isTyped = mode === undefined || mode === "prompt" || mode === "bash";
  const metadata = isTyped ? entry.metadata : { ...entry.metadata, injected: true };
  return { entries: [{ ...entry, metadata }], calls: [], results: [] };
}

function toAnswer(record: Fields, message: Fields, blocks: Block[]): MappedMessage {
  const id = textField(message, "id");
  const model = textField(message, "model");
  // What Claude Code says itself, such as an error of the network, names no model.
  const named = model !== undefined && model !== "<synthetic>";
  const { usage } = message;
  const rest = isPlainObject(usage) ? presentFields(otherFields(usage, USAGE_FIELDS)) : {};
  const kept = messageFields(message, named ? ["usage", "model"] : ["usage"]);
  const fields = keptFields(record, isEmpty(rest) ? kept : { ...kept, usage: rest });
  const entry: MappedEntry = {
    ...toEntry(record, "assistant", blocks, fields),
    actor: "claude-code",
    usage: toUsage(usage),
    model: named ? model : null,
  };
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  // Without an id, lines cannot belong together.
  if (!id) return { entries: [entry], calls, results: [] };
  return { entries: [{ ...entry, answer: id }], answer: id, calls, results: [] };
}

function toEntry(
  record: Fields,
  role: Role,
  blocks: readonly Block[],
  fields: JsonObject,
): MappedEntry {
  const metadata: Record<string, JsonValue> = {};
  if (role === "user" && isInjected(record, blocks)) metadata["injected"] = true;
  if (record["isSidechain"] === true) metadata["sidechain"] = true;
  return {
    kind: "message",
    role,
    actor: null,
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

function withName(block: ToolResultBlock, names: ReadonlyMap<string, string>): ToolResultBlock {
  const toolName = names.get(block.toolUseId);
  return toolName === undefined ? block : { ...block, toolName };
}

/** What is worth keeping of a message beside what was said. An answer is always a message. */
function messageFields(message: Fields, known: readonly string[] = []): JsonObject {
  const kept: Record<string, JsonValue | undefined> = {};
  for (const name of Object.keys(message)) {
    const value = message[name] as JsonValue;
    if (name === "role" || name === "content" || known.includes(name)) continue;
    if (name === "type" && value === "message") continue;
    if ((name === "stop_reason" || name === "stop_sequence") && value === null) continue;
    setField(kept, name, value);
  }
  return presentFields(kept);
}

function keptFields(record: Fields, message: JsonObject): JsonObject {
  const kept: Record<string, JsonValue | undefined> = {};
  for (const name of Object.keys(record)) {
    if (BASE.includes(name)) continue;
    setField(kept, name, record[name]);
  }
  kept["message"] = message;
  return presentFields(kept);
}
