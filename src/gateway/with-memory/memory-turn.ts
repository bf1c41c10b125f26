/** One call of an app's model: the work before it and after it. */

import { contextWindow } from "../../context/context-window.ts";
import type { ContextMessage } from "../../context/message.ts";
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
import {
  type AutoCompaction,
  type AutoCompactionOptions,
  toAutoCompaction,
} from "../after-turn/auto-compaction.ts";
import { type LearnedWindow, readLearned } from "../compaction/learned-window.ts";
import { effectiveReserve, REPLY_RESERVE } from "../compaction/reserve.ts";
import { seenBy } from "../generate/perspective.ts";
import { readContext, readNear } from "../generate/read-context.ts";
import { newMessages } from "./read-prompt.ts";
import type { SdkMessage, SdkModel, SdkPart } from "./sdk-model.ts";

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
