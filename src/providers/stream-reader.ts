/** Reads a stream that may never end: a model that ignores the signal is abandoned. */

/** Yields from `stream` until it ends, or throws the reason of `stop` at once. */
export async function* streamReader<Part>(
  stream: AsyncIterable<Part>,
  stop: AbortSignal,
): AsyncGenerator<Part, void> {
  stop.throwIfAborted();
  let leave = () => {};
  const stopped = new Promise<never>((_, reject) => {
    leave = () => reject(stop.reason);
    stop.addEventListener("abort", leave, { once: true });
  });
  // Avoid an unhandled rejection if it is stopped without a pending read.
  stopped.catch(() => undefined);
  const parts = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([parts.next(), stopped]);
      // A part that was ready at the abort wins the race.
      stop.throwIfAborted();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener("abort", leave);
    // Not awaited: a hanging stream would hang here as well.
    Promise.resolve(parts.return?.()).catch(() => undefined);
  }
}
