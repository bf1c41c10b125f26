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
