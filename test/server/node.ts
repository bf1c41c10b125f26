/** `backscroll serve` as users run it: a process that is stopped or killed. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environmentOf, ROOT } from "../support/cli.ts";

export interface ServerNode {
  readonly url: string;
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** Gives the exit code or the signal. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>;
}

/** `root` is the checkout whose server runs. */
export async function startNode(
  args: readonly string[],
  env: Record<string, string> = {},
  root: string = ROOT,
): Promise<ServerNode> {
  const words = [join(root, "bin/backscroll.js"), "serve", "--port", "0", "--json", ...args];
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: environmentOf(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const line = await Promise.race([
    once(createInterface(child.stdout), "line").then(([text]) => String(text)),
    ended.then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`the server did not start: ${stderr}`);
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    child,
    stderr: () => stderr,
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      const [code, killedBy] = await ended;
      return code ?? killedBy;
    },
  };
}
