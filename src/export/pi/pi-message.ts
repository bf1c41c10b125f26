/** Messages in pi's form: one result per tool message, no system messages. */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { SourceFields } from "../../transcript/source-fields.ts";
import type { LossLog } from "../losses.ts";
import { toPiBlocks } from "./pi-blocks.ts";

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
