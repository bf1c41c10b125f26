/**
 * Block-max impacts, cached per list: the maximum gain of a term for a message of each window,
 * before the term's weight.
 *
 * They depend on the average length and on role weights, which seldom change between searches, so
 * they are cached with the list.
 */

import type { Bounds } from "../index/lists/term-list.ts";
import type { LengthNorm } from "./bm25.ts";

export interface GainRules {
  readonly norm: LengthNorm;
  /** By index of role. */
  readonly roleWeights: Float64Array;
}

/**
 * The rules of the last search, per field of messages. The objects stay the same while the rules
 * do.
 */
let known: readonly GainRules[] = [];
const KEPT_RULES = 2;

/** The same object for equal rules, so that a comparison by identity suffices per chunk. */
export function sameRules(rules: GainRules): GainRules {
  const same = known.find((each) => isSame(each, rules));
  if (same !== undefined) return same;
  const added = { norm: rules.norm, roleWeights: rules.roleWeights };
  known = [added, ...known].slice(0, KEPT_RULES);
  return added;
}

/** One per window with bounds, or one for the whole chunk. */
export function bestGains(bounds: Bounds, rules: GainRules): Float64Array {
  const { starts, triples, gains: before } = bounds;
  if (before !== undefined && bounds.rules === rules) return before;
  const gains = before ?? new Float64Array(Math.max(1, starts.length - 1));
  if (starts.length > 2) {
    for (let window = 0; window < gains.length; window++) {
      gains[window] = bestOf(
        triples,
        starts[window] as number,
        starts[window + 1] as number,
        rules,
      );
    }
  } else {
    gains[0] = bestOf(triples, 0, triples.length, rules);
  }
  bounds.gains = gains;
  bounds.rules = rules;
  return gains;
}

function bestOf(
  triples: Uint32Array,
  from: number,
  to: number,
  { norm, roleWeights }: GainRules,
): number {
  let best = 0;
  for (let i = from; i < to; i++) {
    const triple = triples[i] as number;
    const count = triple & 0xff;
    const role = roleWeights[(triple >>> 8) & 0xff] as number;
    const gain = (role * count) / (count + norm.base + norm.slope * (triple >>> 16));
    if (gain > best) best = gain;
  }
  return best;
}

function isSame({ norm, roleWeights }: GainRules, other: GainRules): boolean {
  if (norm.base !== other.norm.base || norm.slope !== other.norm.slope) return false;
  return roleWeights.every((weight, role) => weight === other.roleWeights[role]);
}
