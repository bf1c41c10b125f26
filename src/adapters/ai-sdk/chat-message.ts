/** Messages of the AI SDK as entries, and back. */

import { fromModelResult, isModelResult } from "../../convert/ai-sdk.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  describe,
  isPlainObject,
  isSameJson,
  type JsonValue,
  stringifyJson,
} from "../../model/json.ts";
import { toBlocks } from "../common/ui-parts.ts";

/** The fields of the SDK's `UIMessage` that we read. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly metadata?: unknown;
  readonly parts: readonly object[];
}

/** Who wrote messages, and with what the newest answer was made. */
export interface Authors {
  readonly user: string;
  readonly assistant: string;
  readonly answer: Pick<MessageEntryInput, "model" | "usage">;
}

export function toEntryInput(message: UIMessageLike, by: Authors): MessageEntryInput {
  // As the SDK sends it over the network: fields that are undefined are absent.
  const raw = JSON.parse(stringifyJson(message, "message")) as JsonValue;
  const actor = message.role === "system" ? {} : { actor: by[message.role] };
  return { role: message.role, content: toBlocks(message.parts), raw, ...actor };
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

/**
 * Any `UIMessage`: given to the SDK's functions and taken from them as it is. Not the SDK's own type,
 * whose declarations need those of browsers.
 */
export interface AnyUIMessage {
  id: string;
  role: UIMessageLike["role"];
  metadata?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the kinds of parts are the host's.
  parts: any[];
}

export interface SaveOptions {
  /** Who wrote the user's messages. Default: `createdBy`. */
  readonly author?: string;
  /**
   * The result of `streamText` or `generateText` that made the answer: its model and usage are stored
   * with it.
   */
  readonly result?: { readonly steps: PromiseLike<readonly object[]> | readonly object[] };
}

/** The model and the usage of all steps of a result; nothing of one that failed. */
export async function answerOf(result: SaveOptions["result"]): Promise<Authors["answer"]> {
  if (result === undefined) return {};
  if (!isModelResult(result)) {
    const way = "what streamText or generateText returned";
    throw invalid("result", `result must be ${way}, with its steps, not ${describe(result)}`);
  }
  const converted = await fromModelResult(result).catch(() => []);
  const answers = converted.filter(({ usage }) => usage !== undefined);
  const model = answers.at(-1)?.model;
  const usage = answers.map((each) => each.usage as Usage);
  return {
    ...(model === undefined ? {} : { model }),
    ...(usage.length === 0 ? {} : { usage: usage.reduce(addUsage) }),
  };
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheCreationTokens: one.cacheCreationTokens + other.cacheCreationTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
  };
}

/** Messages are the SDK's own: only what is no UIMessage at all is refused. */
export function checkMessages(messages: readonly UIMessageLike[]): void {
  if (!Array.isArray(messages)) {
    throw invalid("messages", `messages must be an array, not ${describe(messages)}`);
  }
  for (const [i, message] of (messages as unknown[]).entries()) {
    const { id, parts } = (isPlainObject(message) ? message : {}) as Partial<UIMessageLike>;
    if (typeof id === "string" && Array.isArray(parts)) continue;
    const way = "the messages of a model, such as response.messages, are no UIMessages";
    throw invalid(`messages[${i}]`, `messages[${i}] must be a UIMessage with id and parts; ${way}`);
  }
}

export function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
