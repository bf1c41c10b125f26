/**
 * Models of the AI SDK as streaming chat models.
 *
 * The SDK makes one call and validates tool arguments; it never runs a tool. It is loaded with the
 * first call.
 */

import type { LanguageModel, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from "ai";
import type { ChatModel, ChatPart, ChatRequest, ChatTool } from "../context/chat-model.ts";
import { renderContext } from "../context/render/render.ts";
import { defined } from "../model/defined.ts";
import type { Usage } from "../model/entry.ts";
import { loadOptional } from "../model/optional-package.ts";
import { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS, stateOf } from "./ask-model.ts";
import type { CallOptions, LanguageModelOptions } from "./call-options.ts";
import { modelFailure } from "./model-failure.ts";

/** `load` runs with the first call. */
export function chatModel(
  name: string,
  load: () => Promise<LanguageModel>,
  { maxInputTokens, ...call }: Omit<LanguageModelOptions, "name">,
): ChatModel {
  return {
    name,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    stream: (request) => streamAnswer(name, load, request, call),
  };
}

async function* streamAnswer(
  name: string,
  load: () => Promise<LanguageModel>,
  request: ChatRequest,
  call: CallOptions,
): AsyncGenerator<ChatPart, void> {
  const timeoutMs = request.timeoutMs ?? call.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxRetries = request.maxRetries ?? call.maxRetries ?? DEFAULT_RETRIES;
  const timeout = AbortSignal.timeout(timeoutMs);
  const { signal } = request;
  const stop = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
  try {
    stop.throwIfAborted();
    const { streamText } = await loadOptional("ai", "language models need", () => import("ai"));
    const { stream } = streamText({
      model: await load(),
      ...toCall(name, request),
      maxRetries,
      abortSignal: stop,
      // The stream reports the failure; the SDK would print it as well.
      onError: () => undefined,
    });
    yield* readParts(stream, stop);
  } catch (error) {
    throw modelFailure(name, error, stateOf(signal, timeout, timeoutMs));
  }
}

function toCall(name: string, request: ChatRequest) {
  const { tools = {}, maxOutputTokens, temperature, reasoning, providerOptions } = request;
  const rendered = renderContext(request.messages, "ai-sdk", { model: name });
  const instructions = [request.instructions, rendered.instructions].filter(
    (text) => text !== undefined && text !== "",
  );
  const given = Object.entries(tools);
  return {
    messages: rendered.messages as ModelMessage[],
    ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }),
    ...(given.length === 0 ? {} : { tools: Object.fromEntries(given.map(withoutExecute)) }),
    ...defined({ maxOutputTokens, temperature, reasoning }),
    ...(providerOptions === undefined ? {} : { providerOptions: { ...providerOptions } as never }),
  };
}

/** The caller runs the tools; the SDK gets only their schemas. */
function withoutExecute([name, tool]: [string, ChatTool]): [string, ToolSet[string]] {
  const { description, inputSchema } = tool;
  const told = { inputSchema, ...(description === undefined ? {} : { description }) };
  return [name, told as ToolSet[string]];
}

/** Throws the stream's errors, and the signal's reason as soon as it is aborted. */
async function* readParts(
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  stop: AbortSignal,
): AsyncGenerator<ChatPart, void> {
  const inputs = new Map<string, string>();
  const thoughts = new Map<string, string>();
  for await (const part of streamReader(stream, stop)) {
    switch (part.type) {
      case "text-delta":
        if (part.text !== "") yield { type: "text", text: part.text };
        break;
      case "reasoning-delta":
        thoughts.set(part.id, (thoughts.get(part.id) ?? "") + part.text);
        break;
      case "reasoning-end": {
        const text = thoughts.get(part.id) ?? "";
        const signature = signatureOf(part.providerMetadata);
        if (text === "" && signature === undefined) break;
        const block = { type: "thinking", text } as const;
        const signed = signature === undefined ? block : { ...block, signature };
        yield { type: "thinking", block: signed };
        break;
      }
      case "tool-input-delta":
        inputs.set(part.id, (inputs.get(part.id) ?? "") + part.delta);
        break;
      case "tool-call": {
        const { toolCallId: id, toolName, input: value } = part;
        const problem = part.invalid === true ? String(part.error) : undefined;
        const input = inputs.get(id) || JSON.stringify(value ?? {});
        const told = { type: "tool_call", id, name: toolName, input, value } as const;
        yield problem === undefined ? told : { ...told, problem };
        break;
      }
      case "finish-step":
        yield { type: "end", finishReason: part.finishReason, usage: toUsage(part.usage) };
        break;
      case "error":
        throw part.error;
      case "abort":
        throw new DOMException(part.reason ?? "the call was stopped", "AbortError");
    }
  }
}

/** The places where providers put a thought's signature. */
function signatureOf(metadata: Readonly<Record<string, unknown>> | undefined): string | undefined {
  for (const [house, name] of [
    ["anthropic", "signature"],
    ["google", "thoughtSignature"],
  ] as const) {
    const value = (metadata?.[house] as Record<string, unknown> | undefined)?.[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** Null if no usage was reported: an estimate replaces null, but not zeros. */
function toUsage(usage: LanguageModelUsage): Usage | null {
  const { inputTokens, outputTokens, inputTokenDetails: details } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return null;
  const cacheReadTokens = count(details.cacheReadTokens);
  const cacheCreationTokens = count(details.cacheWriteTokens);
  const rest = count(inputTokens) - cacheReadTokens - cacheCreationTokens;
  return {
    inputTokens: count(details.noCacheTokens ?? rest),
    outputTokens: count(outputTokens),
    cacheReadTokens,
    cacheCreationTokens,
  };
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.floor(tokens) : 0;
}

/** Yields from `stream` until it ends, or throws the reason of `stop` at once. */
export async function* streamReader<Part>(
  stream: AsyncIterable<Part>,
  stop: AbortSignal,
): AsyncGenerator<Part, void> {
  stop.throwIfAborted();
  let leave = () => {};
  const stopped = new Promise<never>((_, reject) => {
    leave = () => reject(stop.reason);
    stop.addEventListener("abort", leave, { once: true });
  });
  // Avoid an unhandled rejection if it is stopped without a pending read.
  stopped.catch(() => undefined);
  const parts = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([parts.next(), stopped]);
      // A part that was ready at the abort wins the race.
      stop.throwIfAborted();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener("abort", leave);
    // Not awaited: a hanging stream would hang here as well.
    Promise.resolve(parts.return?.()).catch(() => undefined);
  }
}
