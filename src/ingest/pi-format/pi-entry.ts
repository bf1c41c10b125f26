/** Maps records of a pi session file by type. */

import type { Block } from "../../model/block.ts";
import { type EntryKind, kindRules, type Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { SYSTEM_MARK } from "../../transcript/source-fields.ts";
import {
  costField,
  countField,
  type Fields,
  nameOf,
  otherFields,
  presentFields,
  resultBlock,
  textField,
  thinkingBlock,
  timeField,
  toCallBlock,
  toImageBlock,
  toTextBlock,
} from "../fields.ts";
import type { ImportedEntry } from "../source.ts";

/** An entry without its place. */
export type MappedEntry = Omit<ImportedEntry, "sourceId" | "parentSourceId" | "metadata"> & {
  /** Fields without a place here, kept for export to pi's format. */
  readonly fields: JsonObject;
};

/** Fields that every record has. */
const BASE = ["type", "id", "parentId", "timestamp"];

/** A record of an unknown type, or without a required field, is kept as `custom`. */
export function toEntry(record: Fields): MappedEntry {
  const { type } = record;
  const map = typeof type === "string" && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const mapped = map?.(record);
  if (mapped === undefined) {
    const data = { type: `pi:${nameOf(type)}`, data: otherFields(record, BASE) };
    return entry(record, { kind: "custom", data }, ["type", ...Object.keys(data.data)], {
      unknown: nameOf(type),
    });
  }
  return mapped;
}

export function movesLeaf(kind: EntryKind): boolean {
  return kindRules(kind).movesLeaf;
}

const TYPES: Readonly<Record<string, (record: Fields) => MappedEntry | undefined>> = {
  message: (record) => {
    const { message } = record;
    if (!isPlainObject(message)) return undefined;
    const mapped = toMessage(message);
    if (mapped === undefined) return undefined;
    const { fields, ...rest } = mapped;
    const made = entry(record, rest, ["message"], fields);
    return made.createdAt === null ? { ...made, createdAt: timeField(message, "timestamp") } : made;
  },

  compaction: (record) => {
    const summary = textField(record, "summary");
    if (summary === undefined) return undefined;
    const known = ["summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook"];
    const { firstKeptEntryId = null, tokensBefore = null, details, fromHook } = record;
    const data = presentDetails({ firstKeptEntryId, tokensBefore } as JsonObject, details);
    return entry(
      record,
      {
        kind: "compaction",
        blocks: [{ type: "text", text: summary }],
        data: fromHook === undefined ? data : { ...data, fromHook: fromHook as boolean },
        references: ["firstKeptEntryId"],
      },
      known,
    );
  },

  branch_summary: (record) => {
    const summary = textField(record, "summary");
    if (summary === undefined) return undefined;
    const { fromId = null, details, fromHook } = record;
    const data = presentDetails({ fromId } as JsonObject, details);
    return entry(
      record,
      {
        kind: "branch_summary",
        blocks: [{ type: "text", text: summary }],
        data: fromHook === undefined ? data : { ...data, fromHook: fromHook as boolean },
        references: ["fromId"],
      },
      ["summary", "fromId", "details", "fromHook"],
    );
  },

  custom: (record) => {
    const type = textField(record, "customType");
    if (type === undefined) return undefined;
    const { data } = record;
    if (type === SYSTEM_MARK && isPlainObject(data) && Array.isArray(data["blocks"])) {
      const blocks = data["blocks"] as Block[];
      return entry(record, { kind: "message", role: "system", blocks }, ["customType", "data"]);
    }
    return entry(
      record,
      {
        kind: "custom",
        data: { type, ...(data === undefined ? {} : { data: data as JsonObject }) },
      },
      ["customType", "data"],
    );
  },

  custom_message: (record) => {
    const type = textField(record, "customType");
    const blocks = toBlocks(record["content"]);
    if (type === undefined || blocks === undefined) return undefined;
    const data = { type, display: record["display"] !== false };
    return entry(
      record,
      { kind: "custom_message", blocks, data: presentDetails(data, record["details"]) },
      ["customType", "content", "display", "details"],
      typeof record["content"] === "string" ? { plain: true } : {},
    );
  },

  label: (record) => {
    const targetId = textField(record, "targetId");
    if (targetId === undefined) return undefined;
    const data = { targetId, label: textField(record, "label") ?? null };
    return entry(record, { kind: "label", data, references: ["targetId"] }, ["targetId", "label"]);
  },

  model_change: (record) => {
    const data = presentFields({
      provider: textField(record, "provider"),
      modelId: textField(record, "modelId"),
    });
    return entry(record, { kind: "model_change", data }, Object.keys(data));
  },

  thinking_level_change: (record) => {
    const data = presentFields({ thinkingLevel: textField(record, "thinkingLevel") });
    return entry(record, { kind: "thinking_level_change", data }, Object.keys(data));
  },

  session_info: (record) => {
    const data = presentFields({ name: textField(record, "name") });
    return entry(record, { kind: "session_info", data }, Object.keys(data));
  },
};

function entry(
  record: Fields,
  mapped: Partial<MappedEntry> & Pick<MappedEntry, "kind">,
  known: readonly string[],
  fields: JsonObject = {},
): MappedEntry {
  const createdAt = timeField(record, "timestamp");
  const iso = createdAt === null ? undefined : new Date(createdAt).toISOString();
  const { timestamp } = record;
  return {
    role: null,
    actor: null,
    blocks: [],
    data: null,
    usage: null,
    model: null,
    ...mapped,
    createdAt,
    fields: {
      ...fields,
      ...presentFields({
        // A time in another format is exported in its own.
        timestamp: timestamp === iso ? undefined : (timestamp as string | undefined),
        entry: otherFields(record, [...BASE, ...known]),
      }),
    },
  };
}

/** A converted message. `fields` has the unmapped fields, kept for export to pi's format. */
type MappedMessage = Pick<
  ImportedEntry,
  "kind" | "role" | "actor" | "blocks" | "data" | "usage" | "model" | "cost"
> & { readonly fields: JsonObject };

/** Undefined for an unknown role, or if a required field is missing. */
function toMessage(message: Fields): MappedMessage | undefined {
  switch (message["role"]) {
    case "user":
      return userMessage(message);
    case "assistant":
      return assistantMessage(message);
    case "toolResult":
      return toolMessage(message);
    case "bashExecution":
      return shellMessage(message);
    // Version 2 called it a hook's message.
    case "custom":
    case "hookMessage":
      return customMessage(message);
    default:
      return undefined;
  }
}

const NOTHING = { actor: null, data: null, usage: null, model: null } as const;

function userMessage(message: Fields): MappedMessage | undefined {
  const blocks = toBlocks(message["content"]);
  if (blocks === undefined) return undefined;
  return {
    ...NOTHING,
    kind: "message",
    role: "user",
    blocks,
    fields: kept(message, ["role", "content"]),
  };
}

function assistantMessage(message: Fields): MappedMessage | undefined {
  const blocks = toBlocks(message["content"]);
  if (blocks === undefined) return undefined;
  const { usage } = message;
  const model = textField(message, "model");
  // pi's format requires a model: its writers use this name if they know none.
  const named = model !== undefined && model !== "unknown";
  const known = ["role", "content", "usage", ...(named ? ["model"] : [])];
  const rest = isPlainObject(usage) ? otherFields(usage, Object.keys(COUNTS)) : usage;
  const fields = kept(message, known, rest === undefined ? {} : { usage: rest as JsonObject });
  return {
    ...NOTHING,
    kind: "message",
    role: "assistant",
    actor: "pi",
    blocks,
    fields,
    usage: isPlainObject(usage) ? toUsage(usage) : null,
    model: named ? model : null,
    ...(isPlainObject(usage) && isPlainObject(usage["cost"])
      ? costField(usage["cost"], "total")
      : {}),
  };
}

const COUNTS = {
  input: "inputTokens",
  output: "outputTokens",
  cacheWrite: "cacheCreationTokens",
  cacheRead: "cacheReadTokens",
} as const satisfies Record<string, keyof Usage>;

/** pi writes only zeros when the provider reported nothing. */
function toUsage(usage: Fields): Usage | null {
  const counts = Object.entries(COUNTS).map(
    ([theirs, ours]) => [ours, countField(usage, theirs) ?? 0] as const,
  );
  return counts.some(([, count]) => count > 0)
    ? (Object.fromEntries(counts) as unknown as Usage)
    : null;
}

function toolMessage(message: Fields): MappedMessage | undefined {
  const toolUseId = textField(message, "toolCallId");
  const output = toOutput(message["content"]);
  if (toolUseId === undefined || output === undefined) return undefined;
  const toolName = textField(message, "toolName");
  const isError = message["isError"] === true;
  const known = ["role", "content", "toolCallId", "toolName", "isError"];
  return {
    ...NOTHING,
    kind: "message",
    role: "tool",
    actor: toolName ?? null,
    blocks: [resultBlock(toolUseId, toolName, output, isError)],
    fields: kept(message, known),
  };
}

/** A command that the user ran: part of the context, unless excluded from it. */
function shellMessage(message: Fields): MappedMessage | undefined {
  const command = textField(message, "command");
  const output = textField(message, "output");
  if (command === undefined || output === undefined) return undefined;
  const hidden = message["excludeFromContext"] === true;
  const rest = otherFields(message, ["role", "output", "timestamp"]);
  return {
    ...NOTHING,
    kind: hidden ? "custom" : "custom_message",
    role: null,
    blocks: [
      { type: "text", text: `Ran \`${command}\`` },
      { type: "text", text: output },
    ],
    data: { type: "bashExecution", display: true, ...rest },
    fields: presentFields({
      message: otherFields(message, ["role", "output", ...Object.keys(rest)]),
    }),
  };
}

function customMessage(message: Fields): MappedMessage | undefined {
  const type = textField(message, "customType");
  const blocks = toBlocks(message["content"]);
  if (type === undefined || blocks === undefined) return undefined;
  const { details } = message;
  const known = ["content", "customType", "display", "details"];
  return {
    ...NOTHING,
    kind: "custom_message",
    role: null,
    blocks,
    data: presentDetails({ type, display: message["display"] !== false }, details),
    // With its role, because another kind of pi's records becomes a custom message too.
    fields: kept(message, known),
  };
}

/** An absent details field stays absent. */
function presentDetails(data: JsonObject, details: unknown): JsonObject {
  return details === undefined ? data : { ...data, details: details as JsonObject };
}

function kept(message: Fields, known: readonly string[], more: JsonObject = {}): JsonObject {
  return presentFields({
    message: { ...otherFields(message, known), ...more },
    // Text instead of a list with one, to be exported unchanged.
    plain: typeof message["content"] === "string" ? true : undefined,
  });
}

/** The blocks of `content`, a text or a list of blocks; undefined if it is neither. */
function toBlocks(content: unknown): Block[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(toBlock) : undefined;
}

/** A tool's output: text if it is a single text, otherwise blocks. */
function toOutput(content: unknown): string | Block[] | undefined {
  if (typeof content === "string") return content;
  const blocks = toBlocks(content);
  const [only] = blocks ?? [];
  const isText = blocks?.length === 1 && only?.type === "text" && Object.keys(only).length === 2;
  return isText ? only.text : blocks;
}

function toBlock(content: unknown): Block {
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  return known ?? { type: "opaque", provider: "pi", json: JSON.stringify(content) };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "thinkingSignature");
      if (text === undefined) return undefined;
      const signed = signature === undefined ? [] : ["thinkingSignature"];
      const more = otherFields(fields, ["type", "thinking", ...signed]);
      return thinkingBlock(text, signature, more);
    }
    case "toolCall":
      return toCallBlock(fields, "arguments");
    case "image":
      return toImageBlock(fields, otherFields(fields, ["type", "data", "mimeType"]));
    default:
      return undefined;
  }
}
