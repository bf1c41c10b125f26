/** Maps messages of Gemini CLI. */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import { type Fields, otherFields, resultBlock, textField, timeField } from "../fields.ts";
import { toPartBlocks, toResultBlock, toTokensUsage } from "../gemini-parts.ts";

export const FORMAT = "gemini-cli";

/** The entries of a message: itself, and a tool's message per call with a result. */
export function toDrafts(message: Fields, id: string): EntryDraft[] | undefined {
  const content = message["content"] ?? "";
  const blocks = toPartBlocks(content, FORMAT);
  if (blocks === undefined) return undefined;
  const createdAt = timeField(message, "timestamp");
  const base = { sourceId: id, createdAt };
  const { type } = message;
  switch (type) {
    case "user": {
      const marks = isInjected(blocks) ? { marks: { injected: true } } : {};
      const fields = rest(message, []);
      return [{ ...base, kind: "message", role: "user", blocks, ...marks, fields }];
    }
    case "gemini":
      return toAnswer(message, base, blocks);
    // The program's messages to the user, which the model never saw.
    case "info":
    case "error":
    case "warning": {
      const data = { type: `${FORMAT}:${type}` };
      return [{ ...base, kind: "custom", blocks, data, fields: rest(message, []) }];
    }
    default:
      return undefined;
  }
}

/** The context that Gemini CLI injects before the first request: date, folders, instructions. */
function isInjected(blocks: readonly Block[]): boolean {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text.trim()] : [""]));
  return texts.length > 0 && texts.every((text) => SESSION_CONTEXT.test(text));
}

const SESSION_CONTEXT = /^<session_context>.*<\/session_context>$/s;

function toAnswer(
  message: Fields,
  base: Pick<EntryDraft, "sourceId"> & { readonly createdAt: number | null },
  content: readonly Block[],
): EntryDraft[] {
  const calls = listOf(message["toolCalls"]);
  const thoughts = listOf(message["thoughts"]).map(toThought);
  const known = ["toolCalls", "thoughts", "tokens", "model"];
  const answer: EntryDraft = {
    ...base,
    kind: "message",
    role: "assistant",
    actor: FORMAT,
    blocks: [...thoughts, ...content, ...calls.flatMap(toCall)],
    usage: toTokensUsage(message["tokens"]),
    model: textField(message, "model") ?? null,
    fields: rest(message, known),
  };
  return [answer, ...calls.flatMap((call) => toResult(call, base))];
}

function toThought(thought: Fields): Block {
  const subject = textField(thought, "subject") ?? "";
  const description = textField(thought, "description") ?? "";
  const text = [subject, description].filter((part) => part !== "").join("\n");
  return { ...otherFields(thought, ["subject", "description"]), type: "thinking", text };
}

export function toCall(call: Fields): Block[] {
  const id = textField(call, "id");
  const name = textField(call, "name");
  if (id === undefined || name === undefined) return [];
  const { args } = call;
  return [
    {
      type: "tool_use",
      id,
      name,
      input: typeof args === "string" ? args : JSON.stringify(args ?? {}),
    },
  ];
}

function toResult(
  call: Fields,
  message: Pick<EntryDraft, "sourceId"> & { readonly createdAt: number | null },
): EntryDraft[] {
  const id = textField(call, "id");
  const { result, status } = call;
  const isOver = status === "error" || status === "cancelled";
  if (id === undefined || ((result === undefined || result === null) && !isOver)) return [];
  const name = textField(call, "name");
  const block = toToolResult(result, id, name, isOver);
  return [
    {
      sourceId: `${message.sourceId}/${id}`,
      id,
      kind: "message",
      role: "tool",
      actor: name ?? null,
      blocks: [block],
      createdAt: timeField(call, "timestamp") ?? message.createdAt,
      fields: otherFields(call, ["id", "name", "args", "result", "timestamp"]),
    },
  ];
}

function toToolResult(
  result: unknown,
  id: string,
  name: string | undefined,
  isOver: boolean,
): Block {
  const parts = Array.isArray(result) ? result : [result];
  const responses = parts.flatMap((part) =>
    isPlainObject(part) && isPlainObject(part["functionResponse"])
      ? [part["functionResponse"]]
      : [],
  );
  const [response] = responses;
  if (response !== undefined && responses.length === parts.length && parts.length === 1) {
    const block = toResultBlock({ name, ...response }, id);
    return block.type === "tool_result" ? { ...block, isError: block.isError || isOver } : block;
  }
  const blocks = toPartBlocks(result, FORMAT) ?? [];
  const [only] = blocks;
  const output = blocks.length === 1 && only?.type === "text" ? only.text : blocks;
  const plain = result === undefined || result === null ? "" : output;
  return resultBlock(id, name, plain, isOver);
}

function rest(message: Fields, known: readonly string[]): JsonObject {
  return otherFields(message, ["id", "type", "timestamp", "content", ...known]);
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
