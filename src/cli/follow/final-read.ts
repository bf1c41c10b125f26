/**
 * Reading the end of a conversation: an agent writes its last lines when it has closed its MCP server, or
 * after it has killed it. A detached process does it, which begins when this one has ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Context } from "../context.ts";

/** Seconds without a write after which a transcript counts as complete. */
export const QUIET_SECONDS = 10;

/** Names the lease's owner to the detached process; see `FollowInput`. */
export const OWNER_VARIABLE = "BACKSCROLL_LEASE_OWNER";

/** Waits until the other end of its input is closed, also because its holder was killed. */
const WHEN_CLOSED = 'read -r _; exec "$@"';

export interface FinalReadOptions {
  readonly quietSeconds: number;
  /** Owner of the lease that this process may hold when it ends. */
  readonly owner: string;
  readonly onError: (error: unknown) => void;
}

/**
 * Has the final read begin when this process ends, however it does. Gives what must be called at a
 * regular end: on Windows, where no small process can wait for it, the reading is started then.
 */
export function armFinalRead(context: Context, options: FinalReadOptions): () => void {
  const command = [process.execPath, process.argv[1] ?? "", "watch"];
  const args = [...command, "--until-quiet", String(options.quietSeconds)];
  const env = {
    ...process.env,
    // Not as arguments: an address may hold a password.
    BACKSCROLL_DB: toAbsolute(context.address),
    BACKSCROLL_TENANT: context.tenant,
    [OWNER_VARIABLE]: options.owner,
  };
  const start = (file: string, words: readonly string[], input: "pipe" | "ignore") => {
    // A session of its own: clients end the process group of their server.
    const settings = { detached: true, env, windowsHide: true };
    const child = spawn(file, words, { ...settings, stdio: [input, "ignore", "ignore"] });
    child.on("error", options.onError);
    letGo(child);
  };
  if (process.platform === "win32") return () => start(args[0] ?? "", args.slice(1), "ignore");
  start("/bin/sh", ["-c", WHEN_CLOSED, "backscroll", ...args], "pipe");
  return () => undefined;
}

/** The event loop does not wait for it; the pipe stays open for as long as this process is there. */
function letGo(child: ChildProcess): void {
  child.unref();
  const { stdin } = child as { stdin: (NodeJS.WritableStream & { unref?: () => void }) | null };
  stdin?.on("error", () => undefined);
  stdin?.unref?.();
}

function toAbsolute(address: string): string {
  return /^[a-z]+:/i.test(address) ? address : resolve(address);
}
