/** Reading a stream that may not end: a model that does not listen to the signal is left behind. */

/** Gives what `stream` gives until it ends, or throws the reason of `stop` as soon as there is one. */
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
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener("abort", leave);
    // Not awaited: a stream that hangs would hang here as well.
    Promise.resolve(parts.return?.()).catch(() => undefined);
  }
}
