/** Standard output and standard error, as commands use them. */

import { clean } from "./text.ts";

export class Terminal {
  /** Whether a person reads: then lines are cut to the width and parts are dimmed. */
  readonly interactive: boolean;
  readonly #color: boolean;

  constructor() {
    this.interactive = process.stdout.isTTY === true;
    this.#color = this.interactive && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
  }

  /** The width to cut lines to: `COLUMNS`, or the terminal's. No cut behind a pipe. */
  get columns(): number {
    const told = Number(process.env["COLUMNS"]);
    if (Number.isInteger(told) && told >= 20) return told;
    return this.interactive ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** Back-pressure: waits for a slow reader, so that a large export takes no memory. */
  write(text: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  print(line = ""): Promise<void> {
    return this.write(`${line}\n`);
  }

  /** One JSON document. */
  printJson(value: unknown): Promise<void> {
    return this.write(`${JSON.stringify(value, null, 2)}\n`);
  }

  /** A line on standard error, such as a hint, which scripts do not read. */
  note(line: string): void {
    process.stderr.write(`${clean(line)}\n`);
  }

  bold(text: string): string {
    return this.#color ? `\u001b[1m${text}\u001b[22m` : text;
  }

  /** Highlights matches. */
  mark(text: string): string {
    return this.#color ? `\u001b[1;33m${text}\u001b[22;39m` : text;
  }

  dim(text: string): string {
    return this.#color ? `\u001b[2m${text}\u001b[22m` : text;
  }
}

/** `| head` closes the pipe early: exit silently. */
export function endQuietlyOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
}
