/**
 * A semaphore weighted by bytes: many small files are read at once, or one that is large.
 *
 * A small file is mostly waiting, for the store; many of them share a commit. A large one keeps the
 * store busy by itself, and a line of it may be as long as it is: two of them would take as much
 * memory again, and no less time.
 */

/** Enough that the store hardly waits: with 16 small files it took a tenth longer. */
const MAX_FILES = 40;
/** Bytes of the files that are read at the same time. */
const MAX_BYTES = 8 * 1024 * 1024;

export class Lanes {
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;
  #wake: (() => void) | undefined;

  /** Resolves when a file of this size may begin. One at a time may wait. */
  async room(size: number): Promise<void> {
    while (!this.#hasRoom(size)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** `work` must not fail. */
  start(size: number, work: Promise<void>): void {
    const bytes = Math.min(size, MAX_BYTES);
    this.#bytes += bytes;
    this.#running.add(work);
    void work.then(() => {
      this.#running.delete(work);
      this.#bytes -= bytes;
      this.#wake?.();
      this.#wake = undefined;
    });
  }

  /** Resolves when all that has begun is done. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  #hasRoom(size: number): boolean {
    if (this.#running.size === 0) return true;
    const bytes = this.#bytes + Math.min(size, MAX_BYTES);
    return this.#running.size < MAX_FILES && bytes <= MAX_BYTES;
  }
}
