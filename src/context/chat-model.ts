/**
 * The port of a chat model: streams an answer, may call tools, reports usage.
 *
 * One call is one request. The caller runs the tools and calls again, so that it can store a call
 * and its result together.
 */

import type { ThinkingBlock } from "../model/block.ts";
import type { Usage } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { ContextMessage } from "./message.ts";

/** A tool as the model is told of it. */
export interface ChatTool {
  /** Some tools of the AI SDK make their description by a function. */
  readonly description?: string | ((options: never) => string) | undefined;
  /** In the words that the AI SDK takes: Standard Schema, zod, or its own `jsonSchema`. */
  readonly inputSchema: unknown;
}

/** How much a model thinks before it answers, in the AI SDK's words. */
export const REASONING_EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export interface ChatRequest {
  /** What the host says to the model, before all messages. */
  readonly instructions?: string;
  readonly messages: readonly ContextMessage[];
  readonly tools?: Readonly<Record<string, ChatTool>>;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** The provider's own default if left out; one that cannot follow it answers as it can. */
  readonly reasoning?: ReasoningEffort;
  /** By provider, what only that one understands. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  readonly signal?: AbortSignal;
  /** How long the whole answer may take: the model's own setting if left out. */
  readonly timeoutMs?: number;
  /** How often a call that could not begin is made again: the model's own setting if left out. */
  readonly maxRetries?: number;
}

export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  /** A whole thought. */
  | { readonly type: "thinking"; readonly block: ThinkingBlock }
  | ToolCallPart
  /** The last part of an answer that is complete. */
  | ChatEnd;

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly input: string;
  /** The arguments, parsed and checked against the tool's schema. */
  readonly value: unknown;
  /** Why the call cannot be carried out: no such tool, or arguments that do not fit. */
  readonly problem?: string;
}

export interface ChatEnd {
  readonly type: "end";
  /** Why the model stopped, in the AI SDK's words: `stop`, `length`, `tool-calls` … */
  readonly finishReason: string;
  /** The provider's figures; null if it gave none. */
  readonly usage: Usage | null;
}

export interface ChatModel {
  readonly name: string;
  /** Its context window in tokens, if its name does not tell. */
  readonly maxInputTokens?: number;
  /**
   * Asks once. Throws `model_failed`, with `details.kind` of `overflow` if the context was too long;
   * after the signal it stops at once, whatever the model does.
   */
  stream(request: ChatRequest): AsyncIterable<ChatPart>;
}
