/** Housekeeping of one session, one after another: two turns that end together flush once. */

const queues = new Map<string, Promise<void>>();

/** Runs `work` after all that was begun before under the same name; a failure of that is not ours. */
export async function oneAtATime<Result>(
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const running = (queues.get(name) ?? Promise.resolve()).then(work);
  const end = running.then(
    () => undefined,
    () => undefined,
  );
  queues.set(name, end);
  try {
    return await running;
  } finally {
    if (queues.get(name) === end) queues.delete(name);
  }
}
