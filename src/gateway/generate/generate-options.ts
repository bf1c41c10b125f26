/** The options of a call, checked and completed. */

import type { ChatModel, ChatRequest, ChatTool } from "../../context/chat-model.ts";
import { contextWindow } from "../../context/context-window.ts";
import { TOKEN_ESTIMATE } from "../../context/tokens.ts";
import { checkCount, invalid } from "../../engine/check.ts";
import type { BuildContextInput } from "../../engine/context/context-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { JsonObject } from "../../model/json.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import type { ContentInput } from "../../transcript/normalize.ts";
import {
  type AutoCompaction,
  type AutoCompactionOptions,
  toAutoCompaction,
} from "../after-turn/auto-compaction.ts";
import { effectiveReserve, REPLY_RESERVE } from "../compaction/auto-policy.ts";
import type { EventListener, GatewayEvent } from "../compaction/decide.ts";
import { type LearnedWindow, readLearned } from "../compaction/fit-window.ts";
import type { SilenceMode } from "../silence.ts";

export interface GenerateOptions {
  readonly input: GenerateInput;
  readonly session: SessionHandle;
  readonly model: ChatModel;
  readonly from: string;
  readonly as: string;
  readonly tools: Readonly<Record<string, GenerateTool>>;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number;
  readonly silence: SilenceMode | false;
  readonly contextWindow: number;
  /** The token budget of the context's messages. */
  readonly tokenBudget: number;
  /** Tokens of the instructions and the tools. */
  readonly fixedTokens: number;
  readonly memory: TenantEngine;
  /** What earlier refusals of the model taught about its window. */
  readonly learned: LearnedWindow | undefined;
  readonly compaction: AutoCompaction;
  /** The message to answer; undefined: the last one on the path. */
  readonly replyTo: string | undefined;
  /** An aborted answer to the same message; the next answer replaces it. */
  readonly supersedes: string | undefined;
}

export const DEFAULT_STEPS = 10;
const DEFAULT_TOOL_TIMEOUT_MS = 120_000;

export async function checkGenerate(
  memory: TenantEngine,
  session: SessionHandle,
  input: GenerateInput,
  tell: EventListener,
): Promise<GenerateOptions> {
  if (input.context !== undefined) {
    checkPart(input.context, "context", INPUTS["generate.context"]);
  }
  const { agent, createdBy } = await session.meta();
  const model = toChatModel(input.model);
  const { tools = {}, silence = "whole", instructions = "" } = input;
  const wanted = input.contextWindow ?? contextWindow(model.name, model.maxInputTokens).tokens;
  if (checkCount(wanted, "contextWindow") < 1) {
    throw invalid("contextWindow", "contextWindow must be a whole number of at least 1");
  }
  if (input.message !== undefined && input.replyTo !== undefined) {
    throw invalid("replyTo", "give either message or replyTo");
  }
  const learned = await readLearned(memory, model.name);
  const window = Math.min(wanted, learned?.refused ?? wanted);
  const fixedTokens = fixedOf(tools, instructions);
  const whole = input.context?.tokenBudget ?? budgetOf(input, fixedTokens, window);
  const most = learned === undefined ? whole : learned.accepted - fixedTokens;
  return {
    input,
    memory,
    learned,
    fixedTokens,
    session,
    model,
    from: input.from ?? createdBy,
    as: input.as ?? agent,
    tools,
    maxSteps: input.maxSteps ?? DEFAULT_STEPS,
    toolTimeoutMs: input.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
    silence,
    contextWindow: window,
    tokenBudget: Math.min(whole, Math.max(MIN_CONTEXT_BUDGET, most)),
    replyTo: input.replyTo,
    supersedes: undefined,
    compaction: toAutoCompaction(input.compaction, model.name, window, tell),
  };
}

/** The window without the answer, the instructions and the tools. */
function budgetOf(
  { maxOutputTokens = 0 }: GenerateInput,
  fixedTokens: number,
  window: number,
): number {
  const reserve = Math.max(effectiveReserve(REPLY_RESERVE, window), maxOutputTokens);
  return Math.max(MIN_CONTEXT_BUDGET, window - reserve - fixedTokens);
}

function fixedOf(tools: Readonly<Record<string, ChatTool>>, instructions: string): number {
  const { countText } = TOKEN_ESTIMATE;
  return Object.entries(tools).reduce(
    (sum, [name, tool]) => sum + countText(name + wordsOf(tool)) + TOOL_TOKENS,
    countText(instructions),
  );
}

function wordsOf({ description }: ChatTool): string {
  return typeof description === "string" ? description : "";
}

/** A typical tool schema; only the SDK knows its text. */
const TOOL_TOKENS = 100;

/** A tool that the host runs. The AI SDK's `tool({ … })` fits. */
export interface GenerateTool extends ChatTool {
  /** Returns JSON or text. An exception becomes an error result for the model. */
  execute?(input: never, options: ToolExecution): unknown;
}

export interface ToolExecution {
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
  /** Always empty; the AI SDK's tools expect it. */
  readonly messages: never[];
  readonly context: never;
}

/** Options of every model call; timeouts and retries apply to each call. */
type EveryCall = Omit<ChatRequest, "messages" | "tools">;

export interface GenerateInput extends EveryCall {
  readonly conversationId: string;
  /** Any language model of the AI SDK, `compatibleModel(…)`, or an object with `name` and `stream`. */
  readonly model: ChatModel | AiSdkModel;
  /**
   * The new message, stored before the model is called. Default: answer the session's last message.
   */
  readonly message?: ContentInput;
  /**
   * Instead of `message`: a stored message to answer, at any place of the path. Answers name it in
   * `metadata.replyTo`.
   */
  readonly replyTo?: string;
  /** The message's actor. Default: the session's creator. */
  readonly from?: string;
  /** The answer's actor. Default: the session's agent. */
  readonly as?: string;
  readonly tools?: Readonly<Record<string, GenerateTool>>;
  /** The limit of model calls for one answer. Default 10. */
  readonly maxSteps?: number;
  /** Options of the context; see `buildContext`. */
  readonly context?: Partial<Omit<BuildContextInput, "provider" | "model" | "leaf" | "replyTo">>;
  /** Only messages of these actors: a view of a shared conversation. */
  readonly filterParticipants?: readonly string[];
  /** Tokens of the model's window. Default: the catalogue's value. */
  readonly contextWindow?: number;
  /** The timeout of a tool. Default 120 s. */
  readonly toolTimeoutMs?: number;
  /** How silent answers are recognised; false: every answer is delivered. Default: `whole`. */
  readonly silence?: SilenceMode | false;
  /** Marks the message as automatic: it does not count as activity and triggers no memory flush. */
  readonly heartbeat?: boolean;
  /** The compaction policy. Default `turns`; false: never. */
  readonly compaction?: AutoCompaction | AutoCompactionOptions | false;
  readonly onEvent?: EventListener;
  /** For seven days, a repeated message with the same key is stored once. */
  readonly idempotencyKey?: string;
  readonly metadata?: JsonObject;
}

/** Parts of an answer, in order. */
export type GeneratePart =
  /** The answer has begun, and is certain not to be silent. */
  | { readonly type: "start"; readonly entryId: string }
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: string;
    }
  | {
      readonly type: "tool_result";
      readonly id: string;
      readonly name: string;
      readonly output: string;
      readonly isError: boolean;
    }
  | { readonly type: "event"; readonly event: GatewayEvent };

export interface GenerateResult {
  /** The text to deliver, before and after tool calls; empty for a silent answer. */
  readonly text: string;
  /** The whole answer is silent. Text before a tool call makes it an ordinary answer. */
  readonly silent: boolean;
  /** The model's last message, as stored. */
  readonly entry: Entry;
  /** The stored input message; null if none was given. */
  readonly message: Entry | null;
  /** The number of model calls. */
  readonly steps: number;
  /** The sum over all calls that reported usage. */
  readonly usage: Usage;
  /** The AI SDK's reason; `tool-calls` after the last permitted step. */
  readonly finishReason: string;
  readonly events: readonly GatewayEvent[];
}
