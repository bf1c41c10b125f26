/** A line that counts, for work that takes longer than a person waits without a sign. */

const QUIET_MS = 500;
const EVERY_MS = 250;

export class Progress {
  #text: (() => string) | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #started = Date.now();
  #shown = false;

  /** Writes on a terminal's standard error only, once half a second has passed, and again as it goes on. */
  show(text: () => string): void {
    if (!process.stderr.isTTY) return;
    this.#text = text;
    this.#timer ??= setInterval(() => this.#write(), EVERY_MS).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#shown) process.stderr.write("\r\u001b[2K");
    this.#shown = false;
  }

  #write(): void {
    if (Date.now() - this.#started < QUIET_MS || this.#text === undefined) return;
    this.#shown = true;
    process.stderr.write(`\r\u001b[2K${this.#text()} …`);
  }
}
