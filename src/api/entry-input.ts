/** An entry of a batch, to and from the wire. */

import type { MessageInput } from "../engine/message-input.ts";
import type { EntryInput } from "../engine/writing/entry-input.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { fromWireMessage, toWireMessage } from "./message-input.ts";
import { fromWireFields, parseWireTime, toWireFields } from "./wire.ts";

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
