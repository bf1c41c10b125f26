/** Input and result of `generate`. */

import type { ChatModel, ChatRequest, ChatTool } from "../../context/chat-model.ts";
import type { BuildContextInput } from "../../engine/context/context-options.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import type { JsonObject } from "../../model/json.ts";
import type { AiSdkModel } from "../../providers/language-model.ts";
import type { ContentInput } from "../../transcript/normalize.ts";
import type { AutoCompaction, AutoCompactionOptions } from "../after-turn/auto-compaction.ts";
import type { EventListener, GatewayEvent } from "../compaction/events.ts";
import type { SilenceMode } from "../silence/silence.ts";

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
