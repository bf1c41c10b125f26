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

/** A tool that the host carries out. One of the AI SDK (`tool({ … })`) fits as it is. */
export interface GenerateTool extends ChatTool {
  /** Returns JSON or text. An exception becomes an error result for the model. */
  execute?(input: never, options: ToolExecution): unknown;
}

export interface ToolExecution {
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
  /** For tools that were written for the AI SDK: always empty. */
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
   * In place of `message`: one that is stored already, and is answered wherever it stands. Answers name
   * the message that they are to in `metadata.replyTo`.
   */
  readonly replyTo?: string;
  /** The message's actor. Default: the session's creator. */
  readonly from?: string;
  /** The answer's actor. Default: the session's agent. */
  readonly as?: string;
  readonly tools?: Readonly<Record<string, GenerateTool>>;
  /** How often the model may be asked for one answer: 10 if left out. */
  readonly maxSteps?: number;
  /** What of the conversation the model is given: see `buildContext`. */
  readonly context?: Partial<Omit<BuildContextInput, "provider" | "model" | "leaf" | "replyTo">>;
  /** Only what these actors wrote: a view of a shared conversation. */
  readonly filterParticipants?: readonly string[];
  /** What the model takes, where its name does not tell. */
  readonly contextWindow?: number;
  /** How long a tool may take: 120 s if left out. */
  readonly toolTimeoutMs?: number;
  /** How silent answers are recognised; false: every answer is delivered. Default: `whole`. */
  readonly silence?: SilenceMode | false;
  /** The message is housekeeping: it neither keeps the session alive nor flushes memories. */
  readonly heartbeat?: boolean;
  /** When to compact; the policy `turns` if left out, false: never. */
  readonly compaction?: AutoCompaction | AutoCompactionOptions | false;
  readonly onEvent?: EventListener;
  /** The same message under the same key is stored once, for seven days. */
  readonly idempotencyKey?: string;
  readonly metadata?: JsonObject;
}

/** What happens while an answer is made, in order. */
export type GeneratePart =
  /** The answer is a real one and begins: until now it might have been a silent one. */
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
  /** The text to deliver, from before and after tool calls; empty if the answer is silent. */
  readonly text: string;
  /** The whole answer is silent. Text before a tool call makes it an ordinary answer. */
  readonly silent: boolean;
  /** The last message of the model, as it is stored. */
  readonly entry: Entry;
  /** The message that was stored before the model was asked; null if there was none. */
  readonly message: Entry | null;
  /** How often the model was asked. */
  readonly steps: number;
  /** All calls together, as far as they were reported. */
  readonly usage: Usage;
  /** Why the model stopped, in the AI SDK's words; `tool-calls` if it may not be asked again. */
  readonly finishReason: string;
  readonly events: readonly GatewayEvent[];
}
