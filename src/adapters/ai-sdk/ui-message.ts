/** UIMessages of the AI SDK as messages of ours, and back: the whole of one is kept beside ours as it came. */

import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { BlockInput } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, type JsonValue, stringifyJson } from "../../model/json.ts";

/** What is needed of the SDK's `UIMessage`: any of its types fits. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly metadata?: unknown;
  readonly parts: readonly object[];
}

/** How the SDK names the parts that call a tool: `tool-` and the tool's name, or this. */
const DYNAMIC_TOOL = "dynamic-tool";

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

/** Whether an entry holds this very message. */
export function isSame(entry: Entry, message: UIMessageLike): boolean {
  return sameJson(entry.raw, JSON.parse(JSON.stringify(message)) as JsonValue);
}

/** What search, contexts and other agents read of it: words, thoughts, calls and their results. */
function toBlocks(parts: readonly object[]): BlockInput[] {
  return (parts as readonly Record<string, unknown>[]).flatMap((part): BlockInput[] => {
    const { type, text } = part;
    if (type === "text" && typeof text === "string" && text !== "") return [{ type, text }];
    if (type === "reasoning" && typeof text === "string" && text !== "") {
      return [{ type: "thinking", text }];
    }
    if (typeof type !== "string" || typeof part["toolCallId"] !== "string") return [];
    return toolBlocks(part, type === DYNAMIC_TOOL ? String(part["toolName"]) : type.slice(5));
  });
}

function toolBlocks(part: Record<string, unknown>, name: string): BlockInput[] {
  const { toolCallId: id, input, output, errorText } = part;
  const call = { type: "tool_use", id, name, input: JSON.stringify(input ?? {}) };
  if (output === undefined && errorText === undefined) return [call];
  const result = {
    type: "tool_result",
    toolUseId: id,
    toolName: name,
    output: typeof output === "string" ? output : JSON.stringify(output ?? errorText),
    isError: errorText !== undefined,
  };
  return [call, result];
}

function isUIMessage(raw: JsonValue): boolean {
  return isPlainObject(raw) && typeof raw["id"] === "string" && Array.isArray(raw["parts"]);
}

/** Objects are the same whatever the order of their members. */
function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) => Object.hasOwn(b, name) && sameJson(a[name] as JsonValue, b[name] as JsonValue),
    )
  );
}
