/**
 * Conflict resolution, last writer wins by id: two processes that extract facts concurrently may
 * both add the same fact, or two that contradict each other. The process that reads last sees both
 * and supersedes one.
 *
 * The greater id always wins, so any number of processes agree, and no two facts supersede each
 * other.
 */

import { type HeldFact, keyOf, normalize } from "./reconcile.ts";

export interface Retirement {
  readonly id: string;
  readonly by: string;
}

/**
 * `added` are ours; `held` are the current facts, ours and others'; `seen` are those that ours were
 * reconciled with, and `isMany` tells whether several objects may hold.
 */
export function settleFacts(
  added: readonly HeldFact[],
  held: readonly HeldFact[],
  seen: ReadonlySet<string>,
  isMany: (key: string) => boolean,
): readonly Retirement[] {
  const ours = new Set(added.map(({ id }) => id));
  const still = held.filter(({ id }) => ours.has(id));
  const others = held.filter(({ id }) => !ours.has(id) && !seen.has(id));
  const retired = new Map<string, string>();
  for (const own of still) {
    for (const other of others) {
      const key = keyOf(own);
      if (key !== keyOf(other)) continue;
      if (isMany(key) && normalize(own.object) !== normalize(other.object)) continue;
      const [lesser, greater] = own.id < other.id ? [own.id, other.id] : [other.id, own.id];
      retired.set(lesser, greater);
    }
  }
  return [...retired].map(([id, by]) => ({ id, by }));
}
