/** Maps messages of pi by role. */

import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { resultBlock } from "../block-fields.ts";
import {
  costField,
  countField,
  type Fields,
  otherFields,
  presentFields,
  textField,
} from "../fields.ts";
import type { ImportedEntry } from "../source.ts";
import { toBlocks, toOutput } from "./pi-blocks.ts";

/** A converted message. `fields` has the unmapped fields, kept for export to pi's format. */
export type MappedMessage = Pick<
  ImportedEntry,
  "kind" | "role" | "actor" | "blocks" | "data" | "usage" | "model" | "cost"
> & { readonly fields: JsonObject };

/** Undefined for an unknown role, or if a required field is missing. */
export function toMessage(message: Fields): MappedMessage | undefined {
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
export function presentDetails(data: JsonObject, details: unknown): JsonObject {
  return details === undefined ? data : { ...data, details: details as JsonObject };
}

function kept(message: Fields, known: readonly string[], more: JsonObject = {}): JsonObject {
  return presentFields({
    message: { ...otherFields(message, known), ...more },
    // Text instead of a list with one, to be exported unchanged.
    plain: typeof message["content"] === "string" ? true : undefined,
  });
}
