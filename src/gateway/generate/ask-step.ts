/** One model call; after a reported context overflow it calls again with a smaller context. */

import { BackscrollError } from "../../model/errors.ts";
import { inputTokens } from "../compaction/decide.ts";
import type { EventListener } from "../compaction/events.ts";
import { budgetAfterOverflow, MAX_RECOVERIES } from "../compaction/keep.ts";
import type { GeneratePart } from "./generate-input.ts";
import type { GenerateOptions } from "./generate-options.ts";
import { seenBy } from "./perspective.ts";
import { readContext } from "./read-context.ts";
import { stopped, type WrittenAnswer, writeAnswer } from "./write-answer.ts";

/**
 * Calls at most three times, each time after a compaction that keeps less and with a smaller
 * budget. Other failures are thrown at once.
 */
export async function askStep(
  options: GenerateOptions,
  tell: (part: GeneratePart) => void,
  tellEvent: EventListener,
): Promise<WrittenAnswer> {
  const { session, compaction, input } = options;
  let window = options.contextWindow;
  let { supersedes } = options;
  for (let attempt = 0; ; attempt++) {
    const budget = Math.min(options.tokenBudget, Math.max(1, Math.floor(window * 0.9)));
    const tokenBudget = attempt === 0 ? options.tokenBudget : budgetAfterOverflow(attempt, budget);
    const overflow = await tryOnce(options, tokenBudget, supersedes, tell);
    if ("answer" in overflow) return overflow.answer;
    if (attempt === MAX_RECOVERIES) throw overflow.failure;
    supersedes = overflow.aborted ?? supersedes;
    window = Math.min(window, overflow.windowTokens ?? window);
    const numbers = { tokenBudget, contextWindow: window };
    tellEvent({ type: "overflow_retry", sessionId: session.id, attempt: attempt + 1, numbers });
    const { heartbeat = false, signal } = input;
    const turn = { heartbeat, ...(signal === undefined ? {} : { signal }) };
    await compaction.makeRoom(session, attempt + 1, window, turn);
  }
}

interface Overflowed {
  readonly failure: unknown;
  readonly windowTokens: number | undefined;
  /** The message that was opened before the failure, if any. */
  readonly aborted: string | undefined;
}

async function tryOnce(
  options: GenerateOptions,
  tokenBudget: number,
  supersedes: string | undefined,
  tell: (part: GeneratePart) => void,
): Promise<{ readonly answer: WrittenAnswer } | Overflowed> {
  const { input, session, model, tools, contextWindow, silence, as, replyTo } = options;
  if (input.signal?.aborted === true) throw stopped("before the model was called");
  const { filterParticipants } = input;
  const view = filterParticipants === undefined ? {} : { filterParticipants };
  const answered = replyTo === undefined ? {} : { replyTo };
  const wanted = { ...input.context, ...view, ...answered };
  const context = await readContext(session, wanted, tokenBudget, options.tokenBudget);
  const parts = model.stream({
    messages: seenBy(context.messages, as),
    tools,
    ...pick(input, ["instructions", "maxOutputTokens", "temperature", "reasoning"]),
    ...pick(input, ["providerOptions", "signal", "timeoutMs", "maxRetries"]),
  });
  let aborted: string | undefined;
  const settings = {
    session,
    actor: as,
    model: model.name,
    contextWindow,
    silence,
    tell,
    supersedes,
    signal: input.signal,
    metadata: { ...input.metadata, ...answered },
  };
  try {
    const answer = await writeAnswer(parts, settings, (id) => {
      aborted = id;
    });
    if (!isCutOff(answer, contextWindow)) return { answer };
    await answer.abort("overflow");
    return { failure: silentOverflow(model.name), windowTokens: undefined, aborted };
  } catch (error) {
    if (!isOverflow(error)) throw error;
    const told = error.details["windowTokens"];
    return { failure: error, windowTokens: typeof told === "number" ? told : undefined, aborted };
  }
}

/** Silent overflow: the input filled the window, so the answer is empty. */
function isCutOff({ text, calls, silent, end }: WrittenAnswer, contextWindow: number): boolean {
  if (text !== "" || calls.length > 0 || silent || end.usage === null) return false;
  return inputTokens(end.usage) > contextWindow;
}

function isOverflow(error: unknown): error is BackscrollError {
  return BackscrollError.is(error, "model_failed") && error.details["kind"] === "overflow";
}

function silentOverflow(model: string): BackscrollError {
  const message = `the model ${model} gave no answer: the context is too long for it`;
  return new BackscrollError("model_failed", message, { details: { model, kind: "overflow" } });
}

/** The defined fields only. */
function pick<Input extends object, Key extends keyof Input>(
  input: Input,
  keys: readonly Key[],
): { [K in Key]?: Exclude<Input[K], undefined> } {
  const given = keys.filter((key) => input[key] !== undefined).map((key) => [key, input[key]]);
  return Object.fromEntries(given) as { [K in Key]?: Exclude<Input[K], undefined> };
}
