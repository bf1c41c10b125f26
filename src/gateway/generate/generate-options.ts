/** The options of a call, checked and completed. */

import type { ChatModel, ChatTool } from "../../context/chat-model.ts";
import { contextWindow } from "../../context/context-window.ts";
import { TOKEN_ESTIMATE } from "../../context/tokens.ts";
import { checkCount, invalid } from "../../engine/check.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import { toChatModel } from "../../providers/language-model.ts";
import { type AutoCompaction, toAutoCompaction } from "../after-turn/auto-compaction.ts";
import type { EventListener } from "../compaction/events.ts";
import { type LearnedWindow, readLearned } from "../compaction/learned-window.ts";
import { effectiveReserve, REPLY_RESERVE } from "../compaction/reserve.ts";
import type { SilenceMode } from "../silence/silence.ts";
import type { GenerateInput, GenerateTool } from "./generate-input.ts";

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
