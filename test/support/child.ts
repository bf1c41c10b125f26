/** Child processes of tests: started from a source file, given a task, read line by line. */

import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { inject } from "vitest";
import { boundByPermissions } from "./permissions.ts";

/** The folder of bundles; undefined if children run from their sources. */
const bundled = inject("children");

/** A shared compile cache: start-up takes a third of the time. */
const COMPILE_CACHE = join(bundled ?? tmpdir(), "backscroll-test-compile-cache");

/** The bundle, or the source, of a module of this folder: see `bundled-children.ts`. */
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
   * permissions bind it, also as root; `limits` are shell commands that bound its resources.
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
      // "close" follows the last output; "exit" may precede it.
      this.#process.once("close", (code, signal) => {
        this.#isOver = true;
        this.#onLine();
        resolve({ code, signal });
      });
    });
  }

  /** Complete lines so far; a line cut off by a kill is ignored. */
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
    // A failed send to a dead process is ignored: its test fails by other means.
    this.#process.send({ task }, () => undefined);
  }

  async kill(): Promise<Exit> {
    this.#process.kill("SIGKILL");
    return this.exited;
  }

  /** Resolves after `count` lines, or when the process has ended. */
  async until(count: number): Promise<void> {
    while (this.#wholeLines.length < count && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#onLine = resolve;
      });
    }
  }

  /** Waits for the exit; on failure throws with the process's standard error. */
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
