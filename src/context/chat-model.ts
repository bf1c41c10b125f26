/**
 * The port of a chat model: streams an answer, may call tools, reports usage.
 *
 * One call is one request. The caller runs the tools and calls again, so that it can store a call
 * and its result together.
 */

import type { CONTEXT_MESSAGE } from "../model/answers/context.ts";
import type { ThinkingBlock } from "../model/block.ts";
import type { Usage } from "../model/entry.ts";
import type { CONTEXT_PARTS, ReasoningEffort } from "../model/inputs/choices.ts";
import type { JsonObject } from "../model/json.ts";
import type { FieldsOf } from "../model/shape.ts";

/** A tool as the model sees it. */
export interface ChatTool {
  /** Some tools of the AI SDK compute their description. */
  readonly description?: string | ((options: never) => string) | undefined;
  /** Any schema that the AI SDK accepts: Standard Schema, zod, or its own `jsonSchema`. */
  readonly inputSchema: unknown;
}

export { REASONING_EFFORTS, type ReasoningEffort } from "../model/inputs/choices.ts";

export interface ChatRequest {
  /** The system prompt. */
  readonly instructions?: string;
  readonly messages: readonly ContextMessage[];
  readonly tools?: Readonly<Record<string, ChatTool>>;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Default: the provider's. A provider without this effort uses its nearest. */
  readonly reasoning?: ReasoningEffort;
  /** Provider-specific options. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  readonly signal?: AbortSignal;
  /** The timeout of the whole answer. Default: the model's own. */
  readonly timeoutMs?: number;
  /** Retries of a call that failed before its first part. Default: the model's own. */
  readonly maxRetries?: number;
}

export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  /** A complete thinking block. */
  | { readonly type: "thinking"; readonly block: ThinkingBlock }
  | ToolCallPart
  /** The last part of a complete answer. */
  | ChatEnd;

export interface ToolCallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** The model's JSON text, unchecked. */
  readonly input: string;
  /** The arguments, parsed and checked against the tool's schema. */
  readonly value: unknown;
  /** Why the call cannot run: an unknown tool, or arguments that do not match its schema. */
  readonly problem?: string;
}

export interface ChatEnd {
  readonly type: "end";
  /** The AI SDK's reason: `stop`, `length`, `tool-calls` … */
  readonly finishReason: string;
  /** The provider's usage; null if not reported. */
  readonly usage: Usage | null;
}

export interface ChatModel {
  readonly name: string;
  /** Its context window in tokens, if the catalogue does not know its name. */
  readonly maxInputTokens?: number;
  /**
   * Makes one call. Throws `model_failed`, with `details.kind` of `overflow` if the context was too
   * long; on abort it stops at once, even if the model does not.
   */
  stream(request: ChatRequest): AsyncIterable<ChatPart>;
}

/** The part of the context that a message belongs to. */
export type ContextPart = (typeof CONTEXT_PARTS)[number];

export interface ContextMessage extends FieldsOf<typeof CONTEXT_MESSAGE> {
  /** An unfinished assistant message: its open calls get no results. */
  readonly aborted?: boolean;
}
