/** Work that must not be done twice at the same time in one process, such as two readings of a session. */

import type { Store } from "../../store/store.ts";

/** By store, the end of the last work under each name. */
const queues = new WeakMap<Store, Map<string, Promise<void>>>();

/** Runs `work` after all that was begun before under the same name; a failure of that is not ours. */
export async function oneAtATime<Result>(
  store: Store,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(store) ?? new Map<string, Promise<void>>();
  queues.set(store, queue);
  const before = queue.get(name) ?? Promise.resolve();
  const running = before.then(work);
  const end = running.then(
    () => undefined,
    () => undefined,
  );
  queue.set(name, end);
  try {
    return await running;
  } finally {
    if (queue.get(name) === end) queue.delete(name);
  }
}
