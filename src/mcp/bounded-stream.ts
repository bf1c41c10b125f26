/**
 * A stream of events that may not pile up.
 *
 * The SDK writes notifications whether or not somebody takes them. Here they are taken as they come, and
 * held until the reader asks. A reader that lets much wait and takes nothing is cut off; one that is slow
 * and goes on reading is not, until it is hopelessly behind. It has lost nothing that it could not read
 * again: a notification says that something has changed, and who listens anew reads what there is.
 */

export interface StreamBounds {
  /** Who lets so much wait must go on reading. */
  readonly unreadBytes: number;
  /** For how long it may then take nothing. */
  readonly patienceMs: number;
  /** More than this waits for nobody. */
  readonly mostBytes: number;
}

export const STREAM_BOUNDS: StreamBounds = {
  // About a thousand notifications.
  unreadBytes: 256 * 1024,
  patienceMs: 10_000,
  // Sixteen of the largest answers: what a thousand listeners could hold is a bound, too.
  mostBytes: 2 * 1024 * 1024,
};

/** What is handed out at once: a large answer is then seen to be read, and not only to be waited for. */
const PIECE_BYTES = 16 * 1024;

/** `onDrop` is called when the reader is given up, after which nothing more is held for it. */
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

/** Takes what comes until its end, or until its reader is to be dropped: then true. */
async function passOn(
  source: ReadableStreamDefaultReader<Uint8Array>,
  held: HeldPieces,
  { unreadBytes, patienceMs, mostBytes }: StreamBounds,
): Promise<boolean> {
  for (;;) {
    const { done, value } = await source.read();
    if (done) return false;
    // One piece may be larger than the bounds; that another one follows it unread is what counts.
    const isIdle = held.bytes >= unreadBytes && held.idleMs >= patienceMs;
    if (isIdle || held.bytes >= mostBytes) break;
    held.add(value);
  }
  held.clear();
  await source.cancel().catch(() => undefined);
  return true;
}

/** What has come and was not asked for yet. */
class HeldPieces {
  bytes = 0;
  #pieces: Uint8Array[] = [];
  #hasEnded = false;
  #takenAt = performance.now();
  #wake: () => void = () => undefined;

  /** How long nothing has been taken. */
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

  /** Waits for one; undefined at the end. */
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
