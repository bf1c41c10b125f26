/**
 * A bounded event stream (back-pressure).
 *
 * The SDK writes notifications without back-pressure; here they are buffered until the reader asks.
 * A stalled reader with a large buffer is cut off, a slow one only at the hard limit. No
 * information is lost: a notification only announces a change, and a new listener reads the current
 * state.
 */

export interface StreamBounds {
  /** Above this buffer a reader must make progress. */
  readonly unreadBytes: number;
  /** How long it may then stall. */
  readonly patienceMs: number;
  /** The hard limit of the buffer. */
  readonly mostBytes: number;
}

export const STREAM_BOUNDS: StreamBounds = {
  // About a thousand notifications.
  unreadBytes: 256 * 1024,
  patienceMs: 10_000,
  // Sixteen of the largest answers, which bounds a thousand listeners too.
  mostBytes: 2 * 1024 * 1024,
};

/** Chunk size: a large answer in chunks shows progress of its reader. */
const PIECE_BYTES = 16 * 1024;

/** `onDrop` is called when the reader is cut off and its buffer is dropped. */
export function boundedStream(
  body: ReadableStream<Uint8Array>,
  bounds: StreamBounds,
  onDrop: () => void,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  const held = new HeldPieces();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void passOn(source, held, bounds).then(
          (isDropped) => {
            if (!isDropped) return held.end();
            controller.error(new Error("the reader takes nothing"));
            onDrop();
          },
          // The source has failed.
          (error: unknown) => controller.error(error),
        );
      },
      async pull(controller) {
        const piece = await held.take();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Forwards pieces until the source ends. True: the reader must be dropped. */
async function passOn(
  source: ReadableStreamDefaultReader<Uint8Array>,
  held: HeldPieces,
  { unreadBytes, patienceMs, mostBytes }: StreamBounds,
): Promise<boolean> {
  for (;;) {
    const { done, value } = await source.read();
    if (done) return false;
    // A single piece may exceed the bounds; a second unread one may not.
    const isIdle = held.bytes >= unreadBytes && held.idleMs >= patienceMs;
    if (isIdle || held.bytes >= mostBytes) break;
    held.add(value);
  }
  held.clear();
  await source.cancel().catch(() => undefined);
  return true;
}

/** The buffer. */
class HeldPieces {
  bytes = 0;
  #pieces: Uint8Array[] = [];
  #hasEnded = false;
  #takenAt = performance.now();
  #wake: () => void = () => undefined;

  /** Time since the last read. */
  get idleMs(): number {
    return performance.now() - this.#takenAt;
  }

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      this.#pieces.push(piece.subarray(at, at + PIECE_BYTES));
    }
    this.bytes += piece.length;
    this.#wake();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  clear(): void {
    this.#pieces = [];
    this.bytes = 0;
  }

  /** Waits for a piece; undefined at the end. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#pieces.shift();
    this.bytes -= piece?.length ?? 0;
    this.#takenAt = performance.now();
    return piece;
  }
}
