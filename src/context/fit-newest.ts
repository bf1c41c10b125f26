/** The newest turn under a budget: nothing of it is dropped, but long tool results are shortened. */

import type { Entry } from "../model/entry.ts";
import { cutResults, LEAST_RESULT_TOKENS, resultTokens } from "./cut-results.ts";
import { fromEntry, type Sized, sumTokens } from "./sized.ts";
import type { TokenCounter } from "./tokens.ts";

export interface FittedTurn {
  readonly messages: readonly Sized[];
  readonly tokens: number;
  /** Tool results that were shortened. */
  readonly shortened: number;
}

/** The longest results first, each to a size at which all of it fits; or what would be needed. */
export function fitNewest(
  entries: readonly Entry[],
  room: number,
  counter: TokenCounter,
): FittedTurn | { readonly needed: number } {
  const whole = entries.map((entry) => fromEntry(entry, "recent", counter));
  const tokens = sumTokens(whole);
  if (tokens <= room) return { messages: whole, tokens, shortened: 0 };

  const sizes = entries.flatMap(({ blocks }) => [...resultTokens(blocks, counter).values()]);
  const rest = tokens - sizes.reduce((sum, size) => sum + size, 0);
  // A result that is cut to a cap takes no more than that, so the cap is found without cutting any.
  const under = (cap: number) => sizes.reduce((sum, size) => sum + Math.min(size, cap), rest);
  let [low, high] = [LEAST_RESULT_TOKENS, Math.max(LEAST_RESULT_TOKENS, ...sizes)];
  while (low < high) {
    const cap = Math.ceil((low + high) / 2);
    if (under(cap) <= room) low = cap;
    else high = cap - 1;
  }
  const fitted = shorten(entries, low, counter);
  return fitted.tokens <= room ? fitted : { needed: fitted.tokens };
}

function shorten(entries: readonly Entry[], cap: number, counter: TokenCounter): FittedTurn {
  let shortened = 0;
  const messages = entries.map((entry) => {
    const sizes = [...resultTokens(entry.blocks, counter)];
    const cuts = new Map(sizes.filter(([, size]) => size > cap).map(([id]) => [id, cap]));
    shortened += cuts.size;
    const blocks = cutResults(entry.blocks, cuts, counter);
    return fromEntry(blocks === entry.blocks ? entry : { ...entry, blocks }, "recent", counter);
  });
  return { messages, tokens: sumTokens(messages), shortened };
}
