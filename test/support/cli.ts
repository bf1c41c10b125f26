/** Running the command line as users do: another process, its output and its exit code. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { boundByPermissions } from "./permissions.ts";

export const ROOT: string = join(import.meta.dirname, "../..");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  /** What is written to standard input; nothing if left out. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Another Node than the one that runs the tests. */
  readonly node?: string;
  /** Another program than the checkout's own. */
  readonly bin?: string;
  /** File permissions bind the command, also as root. */
  readonly isBound?: boolean;
}

/** Runs `backscroll` with `args`. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { node = process.execPath, bin = join(ROOT, "bin/backscroll.js") } = options;
  return run(node, [bin, ...args], options);
}

/**
 * A clean environment for a command, so that a developer's own settings change nothing. What was
 * compiled is kept between runs: a command then starts twice as fast.
 */
export function environmentOf(env: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    TZ: "UTC",
    NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/compile"),
    ...(process.env["BACKSCROLL_BUILT"] === undefined ? {} : { BACKSCROLL_BUILT: "1" }),
    BACKSCROLL_SEARCH_DEADLINE_MS: process.env["BACKSCROLL_SEARCH_DEADLINE_MS"] ?? "",
    ...env,
  };
}

export function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, input, cwd = ROOT, isBound = false } = options;
  const command = isBound ? boundByPermissions(file, args) : { file, args, user: {} };
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, command.args, {
      ...command.user,
      cwd,
      env: environmentOf(env),
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    // A command that reads nothing may be gone before its input is written.
    child.stdin.on("error", () => undefined).end(input ?? "");
  });
}
