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
  const atMost = (cap: number) => shorten(entries, cap, counter);
  const least = atMost(LEAST_RESULT_TOKENS);
  if (least.tokens > room) return { needed: least.tokens };
  // The greatest cap for which the turn fits: what one result gives up, another one keeps.
  let [low, high] = [LEAST_RESULT_TOKENS, Math.max(LEAST_RESULT_TOKENS, ...sizes)];
  let best = least;
  while (low < high) {
    const cap = Math.ceil((low + high) / 2);
    const tried = atMost(cap);
    if (tried.tokens <= room) [low, best] = [cap, tried];
    else high = cap - 1;
  }
  return best;
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
