/** A line that counts, for work that takes longer than a person waits without a sign. */

const QUIET_MS = 1_000;
const EVERY_MS = 200;

export class Progress {
  readonly #started = Date.now();
  #last = 0;
  #shown = false;

  /** Writes on a terminal's standard error only, and only once a second has passed. */
  show(text: () => string): void {
    const now = Date.now();
    if (!process.stderr.isTTY || now - this.#started < QUIET_MS || now - this.#last < EVERY_MS) {
      return;
    }
    this.#last = now;
    this.#shown = true;
    process.stderr.write(`\r\u001b[2K${text()} …`);
  }

  end(): void {
    if (this.#shown) process.stderr.write("\r\u001b[2K");
  }
}
