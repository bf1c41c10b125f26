/**
 * Wraps a model of the AI SDK with memory.
 *
 * It stores the app's messages before the call, replaces the prompt by the conversation's context,
 * and stores the answer. It needs the SDK's shapes only, not the SDK.
 */

import type { MessageStream } from "../../engine/message-stream.ts";
import type { Usage } from "../../model/entry.ts";
import { checkFields, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { AiSdkModel } from "../../providers/language-model.ts";
import { overflowOf } from "../../providers/model-failure.ts";
import { type Retry, untilItFits } from "../compaction/fit-window.ts";
import {
  beginTurn,
  type MemoryTurn,
  readPart,
  readUsage,
  type SdkCall,
  type SdkModel,
  type SdkPart,
  storeAnswer,
  type WithMemoryOptions,
} from "./memory-turn.ts";

/**
 * Wraps `model`. An app may send only new messages or the whole conversation: stored messages are
 * not stored again. Messages of the app's role `system` are passed on, and not stored.
 */
export function withMemory<Model extends AiSdkModel>(
  model: Model,
  options: WithMemoryOptions,
): Model {
  const { context } = checkFields(options, "options", INPUTS.withMemory);
  if (context !== undefined) checkPart(context, "context", INPUTS["generate.context"]);
  const inner = model as unknown as SdkModel;
  const wrapped = {
    specificationVersion: inner.specificationVersion,
    provider: inner.provider,
    modelId: inner.modelId,
    get supportedUrls() {
      return inner.supportedUrls ?? {};
    },
    doGenerate: (call: SdkCall) => answerWhole(inner, call, options),
    doStream: (call: SdkCall) => answerStream(inner, call, options),
  };
  return wrapped as unknown as Model;
}

async function answerWhole(model: SdkModel, call: SdkCall, options: WithMemoryOptions) {
  const turn = await beginTurn(model, call.prompt, options);
  const answer = await askUntilItFits(turn, model, call, (fitting) => model.doGenerate(fitting));
  call.abortSignal?.throwIfAborted();
  const blocks = answer.content.flatMap(readPart);
  await storeAnswer(turn, model, blocks, readUsage(answer.usage));
  if (!answer.content.some(isCall)) await turn.compaction.afterTurn(turn.session);
  return answer;
}

async function answerStream(model: SdkModel, call: SdkCall, options: WithMemoryOptions) {
  const turn = await beginTurn(model, call.prompt, options);
  const result = await askUntilItFits(turn, model, call, (fitting) => model.doStream(fitting));
  const { abortSignal: signal } = call;
  const reader = result.stream.getReader();
  // A model that ignores the signal is abandoned: the pending read ends.
  const leave = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", leave, { once: true });
  const answer = new StreamedAnswer(turn, model.modelId);
  const stream = new ReadableStream<SdkPart>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        signal?.throwIfAborted();
        if (!done) {
          await answer.take(value);
          controller.enqueue(value);
          return;
        }
        signal?.removeEventListener("abort", leave);
        if (await answer.end(signal)) await turn.compaction.afterTurn(turn.session);
        controller.close();
      } catch (error) {
        await answer.abort(signal?.aborted === true ? "aborted" : "failed");
        controller.error(error);
      }
    },
    async cancel(reason) {
      await answer.abort("cancelled");
      await reader.cancel(reason);
    },
  });
  return { ...result, stream };
}

/** Repeats the call with a smaller prompt while the provider reports an overflow. */
async function askUntilItFits<Result>(
  turn: MemoryTurn,
  model: SdkModel,
  call: SdkCall,
  ask: (call: SdkCall) => PromiseLike<Result>,
): Promise<Result> {
  const { memory, learned, tokenBudget, session, compaction } = turn;
  const search = {
    memory,
    model: model.modelId,
    tokenBudget,
    fixedTokens: 0,
    learned,
    onRetry: async ({ attempt, windowTokens, limitTokens }: Retry) => {
      if (attempt === 1) await compaction.makeRoom(session, 1, windowTokens, { limitTokens });
    },
  };
  const { answer } = await untilItFits<Result>(search, async (budget, below) => {
    const { messages, tokens: sentTokens } = await turn.prompt(budget);
    if (sentTokens >= below) return undefined;
    try {
      return { answer: await ask({ ...call, prompt: messages }), sentTokens };
    } catch (failure) {
      const overflow = overflowOf(failure);
      if (overflow === undefined) throw failure;
      return { failure, sentTokens, windowTokens: overflow.windowTokens };
    }
  });
  return answer;
}

function isCall({ type }: SdkPart): boolean {
  return type === "tool-call";
}

/** Stores an answer while it streams through an app's model. */
class StreamedAnswer {
  readonly #turn: MemoryTurn;
  readonly #model: string;
  readonly #thoughts = new Map<string, string>();
  #stream: MessageStream | undefined;
  #usage: Usage | null = null;
  #hasCalls = false;
  #failed = false;

  constructor(turn: MemoryTurn, model: string) {
    this.#turn = turn;
    this.#model = model;
  }

  async take(part: SdkPart): Promise<void> {
    const id = String(part["id"]);
    // The names of the pieces differ between the versions of the specification.
    const piece = String(part["delta"] ?? part["textDelta"] ?? "");
    switch (part.type) {
      case "text-delta":
        await this.#write(piece);
        break;
      case "reasoning-delta":
        this.#thoughts.set(id, (this.#thoughts.get(id) ?? "") + piece);
        break;
      case "reasoning-end": {
        const text = this.#thoughts.get(id) ?? "";
        for (const block of readPart({ ...part, type: "reasoning", text }))
          await this.#write(block);
        break;
      }
      case "tool-call":
        this.#hasCalls = true;
        for (const block of readPart(part)) await this.#write(block);
        break;
      case "finish":
        this.#usage = readUsage(part["usage"]);
        break;
      case "error":
        this.#failed = true;
    }
  }

  /** Stores it, unless `signal` is aborted. Gives whether the turn is over: no tool call is open. */
  async end(signal?: AbortSignal): Promise<boolean> {
    if (this.#failed) {
      await this.abort("failed");
      return false;
    }
    this.#stream ??= await this.#open();
    const usage = this.#usage === null ? {} : { usage: this.#usage };
    await this.#stream.commit({ contextWindow: this.#turn.contextWindow, ...usage }, signal);
    this.#stream = undefined;
    return !this.#hasCalls;
  }

  /** The text received so far is kept. If this fails too, the lease aborts the message. */
  async abort(reason: string): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.abort(reason).catch(() => undefined);
  }

  async #write(piece: Parameters<MessageStream["write"]>[0]): Promise<void> {
    this.#stream ??= await this.#open();
    await this.#stream.write(piece);
  }

  #open(): Promise<MessageStream> {
    const { session, actor } = this.#turn;
    return session.openMessage({ role: "assistant", actor, model: this.#model });
  }
}
