/**
 * The terminal: output as commands use it, a progress line for work of more than a moment,
 * questions.
 */

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

/** Whether the terminal is interactive. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** No unless the answer begins with y. */
export async function askYesNo(question: string): Promise<boolean> {
  process.stderr.write(`${clean(question)} [y/N] `);
  const answer = await readLine();
  return /^\s*y/i.test(answer);
}

export async function askText(question: string): Promise<string> {
  process.stderr.write(`${clean(question)} `);
  return readLine();
}

/** Empty at the end of the input. */
function readLine(): Promise<string> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const done = (text: string) => {
      stdin.off("data", onData).off("end", onEnd).pause();
      resolve(text);
    };
    const onData = (data: Buffer) => done(data.toString("utf8"));
    const onEnd = () => done("");
    stdin.on("data", onData).on("end", onEnd).resume();
  });
}
