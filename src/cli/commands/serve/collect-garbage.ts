/**
 * Returns the memory of followers that have left.
 *
 * What was kept for a thousand event streams is old to V8, which leaves such garbage for as long as
 * other callers keep it busy: 200 MB. So it is collected once many have left, in a fifth of a second.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Also shrinks the young generation, which grew to 128 MB. */
const LAST_RESORT = { type: "major", flavor: "last-resort" };

const LOOK_MS = 5_000;
/** Fewer leave little behind. */
const MANY = 100;

/** Looks every few seconds, until the returned function is called. */
export function collectAfter(
  followers: () => number,
  collect: () => void = garbageCollector(),
): () => void {
  let most = 0;
  const timer = setInterval(() => {
    const now = followers();
    most = Math.max(most, now);
    if (most < MANY || now > most / 2) return;
    most = now;
    collect();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  return () => collect(LAST_RESORT);
}
