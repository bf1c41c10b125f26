/** One call of an app's model: the work before it and after it. */

import type { ContextMessage } from "../../context/chat-model.ts";
import { contextWindow } from "../../context/context-window.ts";
import type { AiSdkMessage } from "../../context/render/ai-sdk.ts";
import { renderContext } from "../../context/render/render.ts";
import type { BuildContextInput } from "../../engine/context/context-options.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { BlockInput } from "../../model/block.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import type { ToolResultInput } from "../../transcript/normalize.ts";
import {
  type AutoCompaction,
  type AutoCompactionOptions,
  toAutoCompaction,
} from "../after-turn/auto-compaction.ts";
import { effectiveReserve, REPLY_RESERVE } from "../compaction/auto-policy.ts";
import { type LearnedWindow, readLearned } from "../compaction/fit-window.ts";
import { readContext, readNear, seenBy } from "../generate/read-context.ts";

export interface WithMemoryOptions {
  readonly memory: TenantEngine;
  readonly conversationId: string;
  /** The actor of the user's messages. Default: the session's creator. */
  readonly from?: string;
  /** The actor of the model's messages. Default: the session's agent. */
  readonly as?: string;
  /** Options of the context; see `buildContext`. */
  readonly context?: Partial<Omit<BuildContextInput, "provider" | "model" | "leaf" | "replyTo">>;
  /** Tokens of the model's window. Default: the catalogue's value. */
  readonly contextWindow?: number;
  /** The compaction policy. Default `turns`; false: never. */
  readonly compaction?: AutoCompaction | AutoCompactionOptions | false;
}

export interface MemoryTurn {
  readonly session: SessionHandle;
  readonly actor: string;
  readonly contextWindow: number;
  readonly compaction: AutoCompaction;
  /** The prompt, under a smaller budget after an overflow. */
  prompt(
    tokenBudget?: number,
  ): Promise<{ readonly messages: SdkMessage[]; readonly tokens: number }>;
  readonly tokenBudget: number;
  readonly memory: TenantEngine;
  readonly learned: LearnedWindow | undefined;
}

/** Stores the prompt's messages that the log lacks. */
export async function beginTurn(
  model: SdkModel,
  given: readonly SdkMessage[],
  options: WithMemoryOptions,
): Promise<MemoryTurn> {
  const session = options.memory.session(options.conversationId);
  await session.meta();
  const { agent, createdBy, messageCount } = await session.meta();
  const actor = options.as ?? agent;
  const newest = await session.history({ limit: 50 });
  const waiting = newest.slice(newest.findLastIndex(({ role }) => role === "assistant") + 1);
  const fresh = newMessages(given, waiting, messageCount === 0);
  if (fresh.length > 0) {
    const { from = createdBy } = options;
    const whose: Partial<Record<MessageInput["role"], object>> = {
      user: { actor: from },
      assistant: { actor },
    };
    await session.append(fresh.map(({ message }) => ({ ...message, ...whose[message.role] })));
  }
  const learned = await readLearned(options.memory, model.modelId);
  const wanted = options.contextWindow ?? contextWindow(model.modelId).tokens;
  const window = Math.min(wanted, learned?.refused ?? wanted);
  const system = given.filter(({ role }) => role === "system");
  const free = Math.max(MIN_CONTEXT_BUDGET, window - effectiveReserve(REPLY_RESERVE, window));
  const budget = options.context?.tokenBudget ?? free;
  const whole = Math.min(budget, Math.max(MIN_CONTEXT_BUDGET, learned?.accepted ?? budget));
  return {
    session,
    actor,
    contextWindow: window,
    tokenBudget: whole,
    memory: options.memory,
    learned,
    compaction: toAutoCompaction(options.compaction, model.modelId, window),
    prompt: async (tokenBudget = whole) => {
      const read = tokenBudget < whole ? readNear : readContext;
      const context = await read(session, options.context ?? {}, tokenBudget, whole);
      const messages = writePrompt(system, seenBy(context.messages, actor), model);
      return { messages, tokens: context.tokens };
    },
  };
}

/** Stores a complete answer. */
export function storeAnswer(
  { session, actor, contextWindow: window }: MemoryTurn,
  model: SdkModel,
  blocks: readonly BlockInput[],
  usage: Usage | null,
): Promise<Entry> {
  const content = blocks.length === 0 ? [{ type: "text", text: "" }] : blocks;
  return session.append({
    role: "assistant",
    actor,
    model: model.modelId,
    content,
    contextWindow: window,
    ...(usage === null ? {} : { usage }),
  });
}

/**
 * Token usage of a call, flat as in version 2 of the AI SDK's specification or nested as in later
 * ones; null if absent.
 */
export function readUsage(usage: unknown): Usage | null {
  if (!isPlainObject(usage)) return null;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  const input = isPlainObject(inputTokens) ? inputTokens : { total: inputTokens };
  const output = isPlainObject(outputTokens) ? outputTokens["total"] : outputTokens;
  if (input["total"] === undefined && output === undefined) return null;
  const cacheReadTokens = count(input["cacheRead"] ?? cachedInputTokens);
  const cacheCreationTokens = count(input["cacheWrite"]);
  const rest = count(input["total"]) - cacheReadTokens - cacheCreationTokens;
  return {
    inputTokens: count(input["noCache"] ?? rest),
    outputTokens: count(output),
    cacheReadTokens,
    cacheCreationTokens,
  };
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(value) : 0;
}

/**
 * Writes a context as a prompt of the AI SDK's model interface.
 *
 * The app's system messages, then the conversation.
 */
function writePrompt(
  system: readonly SdkMessage[],
  messages: readonly ContextMessage[],
  model: SdkModel,
): SdkMessage[] {
  const rendered = renderContext(messages, "ai-sdk", { model: model.modelId });
  const { instructions } = rendered;
  const isTagged = Number(/^v(\d+)/.exec(model.specificationVersion)?.[1] ?? 4) >= 4;
  return [
    ...system,
    ...(instructions === undefined ? [] : [{ role: "system" as const, content: instructions }]),
    ...rendered.messages.map((message) => toSdkMessage(message, isTagged)),
  ];
}

function toSdkMessage({ role, content }: AiSdkMessage, isTagged: boolean): SdkMessage {
  const parts = content as readonly SdkPart[];
  return {
    role,
    content: parts.map((part) =>
      part.type === "file" ? { ...part, data: fileData(String(part["data"]), isTagged) } : part,
    ),
  };
}

/** Version 4 tags a file's data; earlier versions distinguish an address by its type. */
function fileData(data: string, isTagged: boolean): unknown {
  const url = /^https?:\/\//i.test(data) ? new URL(data) : undefined;
  if (!isTagged) return url ?? data;
  return url === undefined ? { type: "data", data } : { type: "url", url };
}

/** A message to store, and the key that recognises a stored copy. */
interface ReadMessage {
  readonly message: MessageInput;
  readonly key: string;
}

/**
 * The new messages of a prompt: those behind its last assistant message, without those that an
 * earlier attempt stored (`waiting`: stored messages without an answer). In an empty session all
 * are new.
 */
function newMessages(
  prompt: readonly SdkMessage[],
  waiting: readonly Entry[],
  isEmpty: boolean,
): ReadMessage[] {
  const said = prompt.filter(({ role }) => role !== "system");
  const last = said.findLastIndex(({ role }) => role === "assistant");
  const read = (isEmpty ? said : said.slice(last + 1)).flatMap(readMessage);
  const stored = waiting.map(keyOf);
  const isPrefix = stored.length > 0 && stored.every((key, i) => read[i]?.key === key);
  return isPrefix ? read.slice(stored.length) : read;
}

function readMessage({ role, content }: SdkMessage): ReadMessage[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "tool") return parts.flatMap(readResult);
  const blocks = parts.flatMap(readPart);
  if (blocks.length === 0) return [];
  const said = role === "assistant" ? "assistant" : "user";
  return [{ message: { role: said, content: blocks }, key: `${said} ${textIn(blocks)}` }];
}

/** Also for parts of an answer, which are nearly the same. */
export function readPart(part: SdkPart): BlockInput[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: String(part["text"] ?? "") }];
    case "reasoning":
      return [{ type: "thinking", text: String(part["text"] ?? ""), ...signatureOf(part) }];
    case "tool-call": {
      const { toolCallId: id, toolName: name, input } = part;
      const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
      return [{ type: "tool_use", id: String(id), name: String(name), input: text }];
    }
    case "file":
      return [readFile(part)];
    default:
      // Sources, approvals and unknown parts stay with the app.
      return [];
  }
}

function readFile(part: SdkPart): BlockInput {
  const mediaType = String(part["mediaType"] ?? "");
  const given = isPlainObject(part["data"]) ? part["data"] : undefined;
  const data = given === undefined ? part["data"] : (given["data"] ?? given["url"]);
  if (!mediaType.startsWith("image")) return { type: "text", text: `[file: ${mediaType}]` };
  if (data instanceof URL) return { type: "image", mediaType, url: data.href };
  if (data instanceof Uint8Array) {
    return { type: "image", mediaType, data: Buffer.from(data).toString("base64") };
  }
  return { type: "image", mediaType, data: String(data) };
}

/** The places where providers put a thought's signature, in input and output. */
function signatureOf(part: SdkPart): { signature?: string } {
  const given = part["providerMetadata"] ?? part["providerOptions"];
  for (const house of isPlainObject(given) ? Object.values(given) : []) {
    if (!isPlainObject(house)) continue;
    const signature = house["signature"] ?? house["thoughtSignature"];
    if (typeof signature === "string") return { signature };
  }
  return {};
}

function readResult(part: SdkPart): ReadMessage[] {
  if (part.type !== "tool-result") return [];
  const id = String(part["toolCallId"]);
  const result: ToolResultInput = { id, name: String(part["toolName"]), ...outputOf(part) };
  return [{ message: { role: "tool", toolResults: [result] }, key: `tool ${id}` }];
}

function outputOf(part: SdkPart): { readonly output: string; readonly isError: boolean } {
  const output = isPlainObject(part["output"]) ? part["output"] : {};
  const { type, value, reason } = output;
  const isError = /^(error|execution-denied)/.test(String(type));
  if (type === "execution-denied") return { output: String(reason ?? "denied"), isError };
  if (typeof value === "string") return { output: value, isError };
  if (type !== "content" || !Array.isArray(value)) {
    return { output: JSON.stringify(value ?? null), isError };
  }
  const texts = value.map((inner) =>
    isPlainObject(inner) ? String(inner["text"] ?? "[file]") : "",
  );
  return { output: texts.join("\n"), isError };
}

function keyOf({ role, blocks }: Entry): string {
  const [first] = blocks;
  return first?.type === "tool_result" ? `tool ${first.toolUseId}` : `${role} ${textIn(blocks)}`;
}

function textIn(blocks: readonly BlockInput[]): string {
  return blocks.flatMap((block) => ("text" in block ? [String(block.text)] : [])).join("\n");
}

/**
 * The AI SDK's language model interface as far as it is used here: versions 2, 3 and 4 of the
 * specification, declared without the SDK.
 */
export interface SdkPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface SdkMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text in a system message, parts in the others. */
  readonly content: string | readonly SdkPart[];
}

export interface SdkCall {
  readonly prompt: readonly SdkMessage[];
  readonly abortSignal?: AbortSignal;
  readonly [option: string]: unknown;
}

interface SdkAnswer {
  readonly content: readonly SdkPart[];
  readonly usage?: unknown;
  readonly [field: string]: unknown;
}

interface SdkStream {
  readonly stream: ReadableStream<SdkPart>;
  readonly [field: string]: unknown;
}

export interface SdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: unknown;
  doGenerate(call: SdkCall): PromiseLike<SdkAnswer>;
  doStream(call: SdkCall): PromiseLike<SdkStream>;
}
