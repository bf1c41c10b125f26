/**
 * Maps UIMessages of the AI SDK to messages and back; the original is stored unchanged beside ours.
 */

import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, isSameJson, type JsonValue, stringifyJson } from "../../model/json.ts";
import { toBlocks } from "../common/ui-parts.ts";

/** The fields of the SDK's `UIMessage` that we read. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly metadata?: unknown;
  readonly parts: readonly object[];
}

export function toEntryInput(message: UIMessageLike): MessageEntryInput {
  // As the SDK sends it over the network: fields that are undefined are absent.
  const raw = JSON.parse(stringifyJson(message, "message")) as JsonValue;
  return { role: message.role, content: toBlocks(message.parts), raw };
}

/** A message of another writer, without a stored UIMessage, is shown by its text. */
export function toUIMessage<Message extends UIMessageLike>(entry: Entry): Message {
  if (isUIMessage(entry.raw)) return entry.raw as unknown as Message;
  const parts = entry.blocks.flatMap((block) =>
    block.type === "text" ? [{ type: "text", text: block.text }] : [],
  );
  const role = entry.role === "user" || entry.role === "system" ? entry.role : "assistant";
  return { id: entry.id, role, parts } as unknown as Message;
}

/** Whether an entry holds an equal message. */
export function isSame(entry: Entry, message: UIMessageLike): boolean {
  return isSameJson(entry.raw, JSON.parse(JSON.stringify(message)) as JsonValue);
}

function isUIMessage(raw: JsonValue): boolean {
  return isPlainObject(raw) && typeof raw["id"] === "string" && Array.isArray(raw["parts"]);
}
