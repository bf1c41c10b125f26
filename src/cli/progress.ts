/** A progress line for work of more than a moment. */

const QUIET_MS = 500;
const EVERY_MS = 250;

export class Progress {
  #text: (() => string) | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #started = Date.now();
  #shown = false;

  /** Writes only to a terminal's standard error, after half a second, and updates it. */
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
