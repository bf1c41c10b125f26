/** Running the command line as users do: its output and its exit code. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostedCommand } from "./cli-host.ts";
import { boundByPermissions } from "./permissions.ts";

export const ROOT: string = join(import.meta.dirname, "../..");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  /** Standard input. Default: empty. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** The Node executable. Default: the tests' own. */
  readonly node?: string;
  /** The program. Default: the checkout's. */
  readonly bin?: string;
  /** File permissions bind the command, also as root. */
  readonly isBound?: boolean;
}

/** Runs `backscroll` with `args` in a new process. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { node = process.execPath, bin = join(ROOT, "bin/backscroll.js") } = options;
  return run(node, [bin, ...args], options);
}

/** The options of a command in the shared process. */
export interface CallOptions extends Pick<RunOptions, "env" | "input" | "cwd"> {
  /** A module whose `main` runs the command, in a process of its own. Default: the command line's. */
  readonly main?: string;
}

/** Runs `backscroll` with `args` in a process that runs many commands, see `cli-host.ts`. */
export function callCli(args: readonly string[], options: CallOptions = {}): Promise<Ran> {
  const { env, input = "", cwd = ROOT, main = MAIN } = options;
  const called = lastCall.then(() => host(main, { args, env: environmentOf(env), cwd, input }));
  lastCall = called.catch(() => undefined);
  return called;
}

/** Commands run one at a time: environment and working folder are process-wide. */
let lastCall: Promise<unknown> = Promise.resolve();
const running = new Map<string, ChildProcess>();

const MAIN = join(
  ROOT,
  process.env["BACKSCROLL_BUILT"] === undefined ? "src/cli/main.ts" : "dist/cli/main.js",
);

async function host(main: string, command: HostedCommand): Promise<Ran> {
  const child = running.get(main) ?? (await startHost(main));
  running.set(main, child);
  child.send(command);
  const died = new AbortController();
  const exit = once(child, "exit", { signal: died.signal }).then(([code]) => {
    running.delete(main);
    throw new Error(`the host of commands ended with ${code} at: ${command.args.join(" ")}`);
  });
  try {
    const [ran] = await Promise.race([once(child, "message"), exit]);
    return ran as Ran;
  } finally {
    exit.catch(() => undefined);
    died.abort();
  }
}

async function startHost(main: string): Promise<ChildProcess> {
  const files = [join(import.meta.dirname, "cli-host.ts"), join(ROOT, "bin/backscroll.js")];
  const child = spawn(process.execPath, [...files, main], {
    env: environmentOf(),
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  await once(child, "message");
  // Unreferenced: it does not keep the tests alive.
  child.unref();
  child.channel?.unref();
  return child;
}

/**
 * A clean environment, independent of the developer's settings, with a compile cache, which halves the
 * start-up time.
 */
export function environmentOf(env: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    TZ: "UTC",
    TMPDIR: tmpdir(),
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
    // EPIPE: a command that reads nothing may exit before its input is written.
    child.stdin.on("error", () => undefined).end(input ?? "");
  });
}
