/** Reads the context for a model call, smaller after each overflow. */

import type { BuiltContext } from "../../engine/context/build-context.ts";
import type { BuildContextInput } from "../../engine/context/context-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import { BackscrollError } from "../../model/errors.ts";

/**
 * Pinned text is never cut: after an overflow the budget grows to hold it, at most to `whole`, the
 * budget before the overflow.
 */
export async function readContext(
  session: SessionHandle,
  input: Omit<BuildContextInput, "tokenBudget">,
  tokenBudget: number,
  whole: number,
): Promise<BuiltContext> {
  try {
    return await session.buildContext({ ...input, tokenBudget });
  } catch (error) {
    if (!BackscrollError.is(error, "budget_too_small") || tokenBudget >= whole) throw error;
    const needed = Math.min(Number(error.details["needed"]), whole);
    return session.buildContext({ ...input, tokenBudget: needed });
  }
}

/** Builds of a context before it is sent again; each takes milliseconds, a refusal seconds. */
const BUILDS = 6;

/**
 * As `readContext`, and close to the budget, by bisection. A budget bounds what any provider's
 * rendering may take, so that a context of short messages ends well below it: after a refusal
 * that would waste the window.
 */
export async function readNear(
  session: SessionHandle,
  input: Omit<BuildContextInput, "tokenBudget">,
  tokenBudget: number,
  whole: number,
): Promise<BuiltContext> {
  let best = await readContext(session, input, tokenBudget, whole);
  let [low, high] = [tokenBudget, Math.min(whole, 3 * tokenBudget)];
  for (let i = 1; i < BUILDS && best.tokens < 0.95 * tokenBudget && low < high; i++) {
    const middle = Math.ceil((low + high) / 2);
    const larger = await readContext(session, input, middle, whole);
    if (larger.tokens > tokenBudget) {
      high = middle - 1;
    } else {
      [best, low] = [larger, middle];
    }
  }
  return best;
}
