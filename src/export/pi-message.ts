/**
 * Messages and blocks in pi's form, the inverse of its reader: one result per tool message, no
 * system messages.
 */

import { type Block, inputTextOf, type ToolResultBlock } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { parseExact } from "../transcript/exact-json.ts";
import type { SourceFields } from "../transcript/source-fields.ts";
import type { LossLog } from "./format.ts";

/** The pi messages of one of ours: one per result, and one for the rest. */
export function toPiMessages(
  entry: Entry,
  source: SourceFields | undefined,
  losses: LossLog,
): object[] {
  const results = entry.blocks.filter((block) => block.type === "tool_result");
  const others = entry.blocks.filter((block) => block.type !== "tool_result");
  const kept = fieldsOf(source);
  const messages = results.map((block) => toolResult(block, entry, kept, source, losses));
  if (others.length > 0 || results.length === 0) {
    if (entry.role === "tool") losses.add("tool messages written as the user's");
    messages.push(
      entry.role === "assistant"
        ? assistantMessage(others, entry, kept, source, losses)
        : userMessage(others, entry, kept, source, losses),
    );
  }
  if (messages.length > 1) losses.add("messages written as several");
  return messages;
}

function fieldsOf(source: SourceFields | undefined): JsonObject {
  const message = source?.fields?.["message"];
  return isPlainObject(message) ? (message as JsonObject) : {};
}

function userMessage(
  blocks: readonly Block[],
  entry: Entry,
  kept: JsonObject,
  source: SourceFields | undefined,
  losses: LossLog,
): object {
  return {
    role: "user",
    content: toContent(blocks, source, losses),
    ...stamped(entry, kept, source),
  };
}

function assistantMessage(
  blocks: readonly Block[],
  entry: Entry,
  kept: JsonObject,
  source: SourceFields | undefined,
  losses: LossLog,
): object {
  const { usage: keptUsage, ...rest } = kept;
  const native = source === undefined;
  const calls = blocks.some((block) => block.type === "tool_use");
  const usage = native || isPlainObject(keptUsage) ? toUsage(entry, keptUsage) : keptUsage;
  return {
    role: "assistant",
    content: toContent(blocks, source, losses),
    // Required by pi.
    ...(native ? { api: "unknown", provider: "unknown", model: "unknown" } : {}),
    ...(entry.model === null ? {} : { model: entry.model }),
    ...(usage === undefined ? {} : { usage }),
    ...(native ? { stopReason: calls ? "toolUse" : "stop" } : {}),
    ...stamped(entry, rest, source),
  };
}

function toUsage(entry: Entry, kept: unknown): object {
  const { usage } = entry;
  const counts = {
    input: usage?.inputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    cacheRead: usage?.cacheReadTokens ?? 0,
    cacheWrite: usage?.cacheCreationTokens ?? 0,
  };
  if (isPlainObject(kept)) return { ...counts, ...kept };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const totalTokens = counts.input + counts.output + counts.cacheRead + counts.cacheWrite;
  return { ...counts, totalTokens, cost };
}

function toolResult(
  block: ToolResultBlock,
  entry: Entry,
  kept: JsonObject,
  source: SourceFields | undefined,
  losses: LossLog,
): object {
  const { toolUseId, toolName, output, isError } = block;
  const blocks = typeof output === "string" ? [{ type: "text", text: output }] : output;
  const plain = source?.fields?.["plain"] === true && typeof output === "string";
  return {
    role: "toolResult",
    toolCallId: toolUseId,
    ...(toolName === undefined ? (source === undefined ? { toolName: "" } : {}) : { toolName }),
    content: plain ? output : toPiBlocks(blocks as readonly Block[], losses),
    isError,
    ...stamped(entry, kept, source),
  };
}

export function toContent(
  blocks: readonly Block[],
  source: SourceFields | undefined,
  losses: LossLog,
): string | object[] {
  const [only] = blocks;
  if (source?.fields?.["plain"] === true && blocks.length <= 1 && (only?.type ?? "text") === "text")
    return only?.type === "text" ? only.text : "";
  return toPiBlocks(blocks, losses);
}

/** pi's messages have their own time beside their record's. */
export function stamped(
  entry: Entry,
  kept: JsonObject,
  source: SourceFields | undefined,
): JsonObject {
  return source === undefined ? { timestamp: entry.createdAt } : kept;
}

/** Undefined if pi has no such block. */
function toPiBlock(block: Block, losses: LossLog): object | undefined {
  switch (block.type) {
    case "text":
      return block;
    case "thinking": {
      const { text, signature, ...rest } = block;
      return {
        ...rest,
        thinking: text,
        ...(signature === undefined ? {} : { thinkingSignature: signature }),
      };
    }
    case "tool_use": {
      const { id, name, input: _, inputText: __, type: ___, ...rest } = block;
      return { type: "toolCall", id, name, arguments: toArguments(inputTextOf(block)), ...rest };
    }
    case "image": {
      const { data, mediaType, url, ...rest } = block;
      if (data !== undefined) return { ...rest, data, mimeType: mediaType ?? "image/png" };
      losses.add(url === undefined ? "images" : "images that are named by their address");
      return undefined;
    }
    case "opaque":
      if (block.provider === "pi") return parseExact(block.json) as object;
      losses.add("blocks of other providers");
      return undefined;
    case "tool_result":
      losses.add("results inside results");
      return undefined;
  }
}

function toPiBlocks(blocks: readonly Block[], losses: LossLog): object[] {
  return blocks.flatMap((block) => toPiBlock(block, losses) ?? []);
}

/** pi stores arguments as an object. Other text stays text, and round-trips. */
function toArguments(input: string): unknown {
  try {
    const value = parseExact(input);
    return typeof value === "object" && value !== null && !isRaw(value) ? value : input;
  } catch {
    // A model's arguments may be invalid JSON.
    return input;
  }
}

/** A number with more digits than a double. */
function isRaw(value: object): boolean {
  return Object.getPrototypeOf(value) === null && "rawJSON" in value;
}
