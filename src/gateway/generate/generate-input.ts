/** What a host asks for when it wants an answer, and what it gets. */

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
  /** What it gives is JSON or text. What it throws is told to the model. */
  execute?(input: never, options: ToolExecution): unknown;
}

export interface ToolExecution {
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
  /** For tools that were written for the AI SDK: always empty. */
  readonly messages: never[];
  readonly context: never;
}

/** What is the same for every call of the model; times and retries are those of one call. */
type EveryCall = Omit<ChatRequest, "messages" | "tools">;

export interface GenerateInput extends EveryCall {
  readonly conversationId: string;
  /** Any language model of the AI SDK, `compatibleModel(…)`, or an object with `name` and `stream`. */
  readonly model: ChatModel | AiSdkModel;
  /** What is said now; stored before the model is asked. Left out: what stands there is answered. */
  readonly message?: ContentInput;
  /**
   * In place of `message`: one that is stored already, and is answered wherever it stands. Answers name
   * the message that they are to in `metadata.replyTo`.
   */
  readonly replyTo?: string;
  /** Who says it; whoever created the session if left out. */
  readonly from?: string;
  /** Who answers; the session's agent if left out. */
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
  /** Answers that are meant for nobody; false: every answer is delivered. `whole` if left out. */
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
  /** What is to be delivered, before and after tools; empty if the answer is silent. */
  readonly text: string;
  /** Nothing was said to anybody. An answer that spoke, used a tool and then fell silent is none. */
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
