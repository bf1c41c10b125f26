/**
 * A semaphore weighted by bytes: many small files run concurrently, or one large one.
 *
 * A small file mostly waits for the store; many of them share a commit. A large one keeps the store
 * busy by itself, and one of its lines may be as long as the file: two would double the memory and
 * save no time.
 */

/** Enough that the store hardly waits: 16 small files took a tenth longer. */
const MAX_FILES = 40;
/** Bytes of the files read concurrently. */
const MAX_BYTES = 8 * 1024 * 1024;

export class Lanes {
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;
  #wake: (() => void) | undefined;

  /** Resolves when a file of this size may start. At most one caller waits. */
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

  /** Resolves when everything started is done. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  #hasRoom(size: number): boolean {
    if (this.#running.size === 0) return true;
    const bytes = this.#bytes + Math.min(size, MAX_BYTES);
    return this.#running.size < MAX_FILES && bytes <= MAX_BYTES;
  }
}
