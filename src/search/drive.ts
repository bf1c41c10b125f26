/** The trampoline of the index's sans-I/O generators: answers each need until there is a result. */

import type { Answers, Need, SansIo } from "./port.ts";

export type AnswerNow = (need: Need) => Answers[keyof Answers];
export type AnswerLater = (need: Need) => Promise<Answers[keyof Answers]>;

export function runNow<Result>(computation: SansIo<Result>, answer: AnswerNow): Result {
  let step = computation.next();
  while (!step.done) {
    const { value } = step;
    step = attempt(computation, () => computation.next(answer(value)));
  }
  return step.value;
}

export async function runLater<Result>(
  computation: SansIo<Result>,
  answer: AnswerLater,
): Promise<Result> {
  let step = computation.next();
  while (!step.done) {
    const { value } = step;
    let given: Answers[keyof Answers];
    try {
      given = await answer(value);
    } catch (error) {
      computation.return(undefined as Result);
      throw error;
    }
    step = computation.next(given);
  }
  return step.value;
}

/** A failed answer ends the computation, with its `finally` blocks. */
function attempt<Step>(computation: SansIo<unknown>, next: () => Step): Step {
  try {
    return next();
  } catch (error) {
    computation.return(undefined);
    throw error;
  }
}
