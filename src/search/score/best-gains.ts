/**
 * What the best message of each window gains by a term, before the term's weight.
 *
 * It depends on the average length and on the weights of roles, which are mostly those of the search
 * before: so it is kept with the list, for as long as that stays in the cache.
 */

import type { Bounds } from "../index/lists/term-list.ts";
import type { LengthNorm } from "./bm25.ts";

export interface GainRules {
  readonly norm: LengthNorm;
  /** By index of role. */
  readonly roleWeights: Float64Array;
}

interface Known {
  readonly rules: GainRules;
  readonly gains: Float64Array;
}

const known = new WeakMap<Bounds, Known>();

/** One for each window that has bounds of its own, or one for the whole chunk. */
export function bestGains(bounds: Bounds, { norm, roleWeights }: GainRules): Float64Array {
  const before = known.get(bounds);
  if (before !== undefined && isSame(before.rules, norm, roleWeights)) return before.gains;
  const { starts, triples } = bounds;
  const gains = new Float64Array(Math.max(1, starts.length - 1));
  if (starts.length > 2) {
    for (let window = 0; window < gains.length; window++) {
      const [from, to] = [starts[window] as number, starts[window + 1] as number];
      gains[window] = bestOf(triples, from, to, norm, roleWeights);
    }
  } else {
    gains[0] = bestOf(triples, 0, triples.length, norm, roleWeights);
  }
  known.set(bounds, { rules: { norm, roleWeights }, gains });
  return gains;
}

function bestOf(
  triples: Uint32Array,
  from: number,
  to: number,
  norm: LengthNorm,
  roleWeights: Float64Array,
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

function isSame({ norm, roleWeights }: GainRules, other: LengthNorm, weights: Float64Array) {
  if (norm.base !== other.base || norm.slope !== other.slope) return false;
  return roleWeights.every((weight, role) => weight === weights[role]);
}
