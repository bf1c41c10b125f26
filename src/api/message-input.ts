/** A message to append, and an entry of a batch, to and from the wire. */

import type { MessageInput } from "../engine/message-input.ts";
import type { EntryInput } from "../engine/writing/entry-input.ts";
import { BackscrollError } from "../model/errors.ts";
import { unknownField } from "../model/input.ts";
import { describe, isPlainObject, type JsonObject } from "../model/json.ts";
import { fromWireFields, parseWireTime, toWireFields } from "./wire.ts";

/** Wire names and the library's names. */
const FIELDS: Readonly<Record<string, keyof MessageInput>> = {
  role: "role",
  actor: "actor",
  content: "content",
  tool_calls: "toolCalls",
  tool_results: "toolResults",
  usage: "usage",
  context_window: "contextWindow",
  model: "model",
  adapter: "adapter",
  metadata: "metadata",
  created_at: "createdAt",
  interaction: "interaction",
  external_id: "externalId",
  raw: "raw",
};

const USAGE_FIELDS: Readonly<Record<string, string>> = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  cache_creation_tokens: "cacheCreationTokens",
  cache_read_tokens: "cacheReadTokens",
};

/**
 * Gives the library's form of a message. An unknown field is an error, because a misspelt one would
 * otherwise be lost silently. The library checks the values.
 */
export function fromWireMessage(value: unknown, field = "message"): MessageInput {
  if (!isPlainObject(value))
    throw invalid(field, `${field} must be an object, not ${describe(value)}`);
  const message = rename(value, FIELDS, field);
  if (isPlainObject(message["usage"])) {
    message["usage"] = rename(message["usage"], USAGE_FIELDS, `${field}.usage`);
  }
  if (typeof message["createdAt"] === "string") {
    message["createdAt"] = new Date(message["createdAt"]);
  }
  if (Array.isArray(message["toolResults"])) {
    message["toolResults"] = message["toolResults"].map((result: unknown) =>
      isPlainObject(result) && "is_error" in result ? renameError(result) : result,
    );
  }
  return message as unknown as MessageInput;
}

/** The inverse, for senders. `time` formats timestamps. */
export function toWireMessage(
  message: MessageInput,
  time: (value: number | Date, field: string) => string,
): Record<string, unknown> {
  const { createdAt, usage, ...rest } = message;
  return {
    ...toWireFields(rest as unknown as JsonObject),
    ...(usage === undefined ? {} : { usage: toWireFields(usage as JsonObject) }),
    ...(createdAt === undefined ? {} : { created_at: time(createdAt, "createdAt") }),
  };
}

function renameError({ is_error: isError, ...result }: Record<string, unknown>) {
  return { ...result, isError };
}

function rename(
  value: Record<string, unknown>,
  names: Readonly<Record<string, string>>,
  field: string,
): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known === undefined) {
      const { message, details } = unknownField(name, field, Object.keys(names));
      throw new BackscrollError("invalid_input", message, {
        details: { ...details, field: `${field}.${name}`.slice(0, 200) },
      });
    }
    renamed[known] = member;
  }
  return renamed;
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/** Gives the library's form of an entry. The library checks its fields. */
export function fromWireEntryInput(value: unknown, field: string): EntryInput {
  if (!isPlainObject(value)) return fromWireMessage(value, field);
  const { kind, ...fields } = value;
  if (kind === undefined || kind === "message") return fromWireMessage(fields, field);
  const { created_at: createdAt, ...rest } = fields;
  return {
    kind,
    ...fromWireFields(rest),
    ...(typeof createdAt === "string"
      ? { createdAt: parseWireTime(createdAt, `${field}.created_at`) }
      : {}),
  } as unknown as EntryInput;
}

/** The inverse, for senders. `time` formats timestamps. */
export function toWireEntryInput(
  entry: EntryInput,
  time: (value: number | Date, field: string) => string,
): Record<string, unknown> {
  const { kind, ...fields } = entry;
  if (kind === undefined || kind === "message") return toWireMessage(fields as MessageInput, time);
  const { createdAt, ...rest } = fields;
  return {
    kind,
    ...toWireFields(rest as unknown as JsonObject),
    ...(createdAt === undefined ? {} : { created_at: time(createdAt, "createdAt") }),
  };
}
