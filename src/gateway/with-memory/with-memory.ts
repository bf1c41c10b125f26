/**
 * Wraps a model of the AI SDK with memory.
 *
 * It stores the app's messages before the call, replaces the prompt by the conversation's context,
 * and stores the answer. It needs the SDK's shapes only, not the SDK.
 */

import { checkFields, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { AiSdkModel } from "../../providers/language-model.ts";
import { overflowOf } from "../../providers/model-failure.ts";
import { type Retry, untilItFits } from "../compaction/fit-window.ts";
import {
  beginTurn,
  type MemoryTurn,
  readUsage,
  storeAnswer,
  type WithMemoryOptions,
} from "./memory-turn.ts";
import { readPart } from "./read-prompt.ts";
import type { SdkCall, SdkModel, SdkPart } from "./sdk-model.ts";
import { StreamedAnswer } from "./streamed-answer.ts";

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
