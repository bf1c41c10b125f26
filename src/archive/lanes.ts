/**
 * How much is read at once: many small files, or a few large ones.
 *
 * A small file is mostly waiting, for the disk and for the store; many of them share a commit. Of a
 * large one a few megabytes are held, whatever its size.
 */

/** Enough that the store hardly waits: with 16 small files it took a tenth longer. */
const MAX_FILES = 40;
const MAX_BYTES = 8 * 1024 * 1024;

/** What a file of any size takes: what is read of it, and what is on its way to the store. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

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
    const bytes = Math.min(size, MAX_FILE_BYTES);
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
    const bytes = this.#bytes + Math.min(size, MAX_FILE_BYTES);
    return this.#running.size < MAX_FILES && bytes <= MAX_BYTES;
  }
}
