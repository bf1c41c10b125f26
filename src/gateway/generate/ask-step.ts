/** One model call; after a context overflow it calls again with a smaller context. */

import { BackscrollError } from "../../model/errors.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import { inputTokens } from "../compaction/decide.ts";
import type { EventListener } from "../compaction/events.ts";
import { type Asked, type Retry, untilItFits } from "../compaction/fit-window.ts";
import type { GeneratePart } from "./generate-input.ts";
import type { GenerateOptions } from "./generate-options.ts";
import { seenBy } from "./perspective.ts";
import { readContext, readNear } from "./read-context.ts";
import { stopped, type WrittenAnswer, writeAnswer } from "./write-answer.ts";

/**
 * After an overflow, compacts once and repeats the call with less each time; see `untilItFits`.
 * Other failures are thrown at once.
 */
export async function askStep(
  options: GenerateOptions,
  tell: (part: GeneratePart) => void,
  tellEvent: EventListener,
): Promise<WrittenAnswer> {
  const { session, compaction, input, memory, model, fixedTokens, learned } = options;
  const { heartbeat = false, signal } = input;
  const turn = { heartbeat, ...(signal === undefined ? {} : { signal }) };
  let { supersedes } = options;
  const onRetry = async ({ attempt, windowTokens, limitTokens }: Retry) => {
    const numbers = { tokenBudget: limitTokens, contextWindow: windowTokens };
    tellEvent({ type: "overflow_retry", sessionId: session.id, attempt, numbers });
    // One summary suffices: later requests are smaller by their budget.
    if (attempt > 1) return;
    await compaction.makeRoom(session, attempt, windowTokens, { ...turn, limitTokens });
  };
  const { tokenBudget } = options;
  const search = { memory, model: model.name, tokenBudget, fixedTokens, learned, onRetry };
  const fitted = await untilItFits(search, async (budget, below) => {
    const asked = await tryOnce(options, budget, below, supersedes, tell);
    if (asked !== undefined && "failure" in asked) supersedes = asked.aborted ?? supersedes;
    return asked;
  });
  // The requests between left messages out: from now on a summary stands for them.
  if (fitted.learned !== undefined && fitted.attempts > 1 && fitted.answer.calls.length === 0) {
    const { accepted, refused } = fitted.learned;
    const limitTokens = Math.max(MIN_CONTEXT_BUDGET, accepted - fixedTokens);
    fitted.answer.afterwards = async () => {
      await compaction.makeRoom(session, 1, refused, { ...turn, limitTokens });
    };
  }
  return fitted.answer;
}

async function tryOnce(
  options: GenerateOptions,
  tokenBudget: number,
  below: number,
  supersedes: string | undefined,
  tell: (part: GeneratePart) => void,
): Promise<(Asked<WrittenAnswer> & { readonly aborted?: string | undefined }) | undefined> {
  const { input, session, model, tools, contextWindow, silence, as, replyTo } = options;
  if (input.signal?.aborted === true) throw stopped("before the model was called");
  const { filterParticipants } = input;
  const view = filterParticipants === undefined ? {} : { filterParticipants };
  const answered = replyTo === undefined ? {} : { replyTo };
  const wanted = { ...input.context, ...view, ...answered };
  const read = below === Number.POSITIVE_INFINITY ? readContext : readNear;
  const context = await read(session, wanted, tokenBudget, options.tokenBudget);
  const sentTokens = context.tokens + options.fixedTokens;
  if (sentTokens >= below) return undefined;
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
    if (!isCutOff(answer, contextWindow)) return { answer, sentTokens };
    await answer.abort("overflow");
    const failure = silentOverflow(model.name);
    return { failure, sentTokens, windowTokens: undefined, aborted };
  } catch (error) {
    if (!isOverflow(error)) throw error;
    const told = error.details["windowTokens"];
    const windowTokens = typeof told === "number" ? told : undefined;
    return { failure: error, sentTokens, windowTokens, aborted };
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
