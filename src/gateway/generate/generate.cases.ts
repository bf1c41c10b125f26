/** Support of the `generate` tests: a store and a scripted model. */

import { requestViolations } from "../../../test/support/provider-rules/index.ts";
import type { ChatModel, ChatPart, ChatRequest, ContextMessage } from "../../context/chat-model.ts";
import { textOf } from "../../model/block.ts";
import { BackscrollError } from "../../model/errors.ts";

export type Scripted = readonly ChatPart[] | ((request: ChatRequest) => AsyncIterable<ChatPart>);

export interface ScriptedModel extends ChatModel {
  /** The requests in order. */
  readonly requests: ChatRequest[];
}

/** Answers in order and repeats the last one. Refuses requests that a provider would refuse. */
export function scriptedModel(...answers: readonly Scripted[]): ScriptedModel {
  const requests: ChatRequest[] = [];
  return {
    name: "scripted",
    requests,
    async *stream(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? [];
      requests.push(request);
      const refused = requestViolations(request.messages);
      if (refused.length > 0) throw new Error(`refused: ${refused.join("; ")}`);
      if (typeof answer === "function") yield* answer(request);
      else yield* answer;
    },
  };
}

export function say(...pieces: readonly string[]): ChatPart[] {
  return [...pieces.map((text) => ({ type: "text" as const, text })), end(10, 5)];
}

export function call(id: string, name: string, value: unknown = {}): ChatPart {
  return { type: "tool_call", id, name, input: JSON.stringify(value), value };
}

export function end(inputTokens: number, outputTokens: number, finishReason = "stop"): ChatPart {
  const cache = { cacheCreationTokens: 0, cacheReadTokens: 0 };
  return { type: "end", finishReason, usage: { inputTokens, outputTokens, ...cache } };
}

/** Throws a provider's overflow error. */
export function overflows(windowTokens?: number): AsyncIterable<ChatPart> {
  const told = windowTokens === undefined ? {} : { windowTokens };
  const details = { model: "scripted", kind: "overflow", ...told };
  const error = new BackscrollError("model_failed", "the context is too long", { details });
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}

/** Throws as for an unreachable provider. */
export function fails(): AsyncIterable<never> {
  const error = new Error("away");
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}

/** Each message as `role: text`. */
export function spoken(messages: readonly ContextMessage[] | undefined): string[] {
  return (messages ?? []).map(({ role, blocks }) => `${role}: ${textOf(blocks)}`);
}

/** The error of a call. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
