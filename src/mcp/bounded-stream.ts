/**
 * A stream of events that may not pile up.
 *
 * The SDK writes notifications whether or not somebody takes them. Here they are taken as they come, and
 * held up to a limit until the reader asks; a reader that lets more wait than that is cut off. It has
 * lost nothing that it could not read again: a notification says that something has changed, and who
 * listens anew reads what there is.
 */

/** What may wait for a reader: about a thousand notifications. */
export const UNREAD_BYTES: number = 256 * 1024;

/** `onDrop` is called when the reader is given up, after which nothing more is held for it. */
export function boundedStream(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
  onDrop: () => void,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void passOn(source, controller, onDrop);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: limitBytes, size: (piece) => piece.byteLength },
  );
}

async function passOn(
  source: ReadableStreamDefaultReader<Uint8Array>,
  controller: ReadableStreamDefaultController<Uint8Array>,
  onDrop: () => void,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await source.read();
      if (done) return controller.close();
      // One piece may be larger than the limit; that another one follows it unread is what counts.
      if ((controller.desiredSize ?? 0) <= 0) break;
      controller.enqueue(value);
    }
  } catch (error) {
    // The source has failed, or the reader has gone.
    controller.error(error);
    return;
  }
  controller.error(new Error("the reader takes nothing"));
  await source.cancel().catch(() => undefined);
  onDrop();
}
