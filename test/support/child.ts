/** Real processes for tests: started from a source file, told what to do, read line by line. */

import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { inject } from "vitest";
import { boundByPermissions } from "./permissions.ts";

/** Where the processes were put together; undefined if they run from their sources. */
const bundled = inject("children");

/** Compiled code is kept between processes: a start costs a third. */
const COMPILE_CACHE = join(bundled ?? tmpdir(), "backscroll-test-compile-cache");

/** What runs for a source, which is named from this folder: see `bundled-children.ts`. */
export function codeFile(source: string): string {
  if (bundled === undefined) return join(import.meta.dirname, source);
  return join(bundled, `${basename(source, ".ts")}.js`);
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Child {
  readonly #process: ChildProcess;
  readonly #wholeLines: string[] = [];
  readonly #errors: string[] = [];
  #partial = "";
  #onLine: () => void = () => undefined;
  readonly exited: Promise<Exit>;
  #isOver = false;

  /**
   * `file` is a module of this folder that waits for one message: its task. With `isBound` file
   * permissions bind it, also as root; `limits` are shell commands that bound what it may use.
   */
  constructor(
    file: string,
    options: { readonly isBound?: boolean; readonly limits?: string } = {},
  ) {
    const node = [process.execPath, codeFile(file)];
    const shell = ["sh", "-c", `${options.limits}; exec "$0" "$@"`];
    const [command = "", ...args] = options.limits === undefined ? node : [...shell, ...node];
    const run =
      options.isBound === true
        ? boundByPermissions(command, args)
        : { file: command, args, user: {} };
    this.#process = spawn(run.file, run.args, {
      ...run.user,
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#process.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors.push(text);
    });
    this.exited = new Promise((resolve) => {
      // "close" comes after the last output was read, "exit" may come before.
      this.#process.once("close", (code, signal) => {
        this.#isOver = true;
        this.#onLine();
        resolve({ code, signal });
      });
    });
  }

  /** The lines so far. One that was cut off by a kill was never said. */
  get lines(): readonly string[] {
    return this.#wholeLines;
  }

  get errors(): string {
    return this.#errors.join("");
  }

  /** Each line as JSON. */
  said<Line>(): Line[] {
    return this.#wholeLines.map((line) => JSON.parse(line) as Line);
  }

  tell(task: unknown): void {
    // A process that is dead already cannot be told anything, and its test will find out.
    this.#process.send({ task }, () => undefined);
  }

  async kill(): Promise<Exit> {
    this.#process.kill("SIGKILL");
    return this.exited;
  }

  /** Resolves once there are `count` lines, or the process is over. */
  async until(count: number): Promise<void> {
    while (this.#wholeLines.length < count && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#onLine = resolve;
      });
    }
  }

  /** Waits for the end, and throws what the process complained about unless it went well. */
  async succeed(): Promise<void> {
    const { code, signal } = await this.exited;
    if (code !== 0) throw new Error(`the process ended with ${signal ?? code}:\n${this.errors}`);
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    this.#wholeLines.push(...lines);
    if (lines.length > 0) this.#onLine();
  }
}
