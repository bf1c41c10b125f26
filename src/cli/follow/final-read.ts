/**
 * The final read: an agent writes its last lines after it has closed or killed its MCP server. A
 * detached process reads them when this one has ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Context } from "../context.ts";

/** Seconds without a write after which a transcript counts as complete. */
export const QUIET_SECONDS = 10;

/** Names the lease's owner to the detached process; see `FollowInput`. */
export const OWNER_VARIABLE = "BACKSCROLL_LEASE_OWNER";

/** Waits until its input is closed, also because its holder was killed. */
const WHEN_CLOSED = 'read -r _; exec "$@"';

export interface FinalReadOptions {
  readonly quietSeconds: number;
  /** Owner of the lease that this process may hold when it ends. */
  readonly owner: string;
  readonly onError: (error: unknown) => void;
}

/**
 * Arranges the final read for when this process ends, in any way. Gives a function to call at a
 * regular end: on Windows, where no helper process can wait for it, the reading starts then.
 */
export function armFinalRead(context: Context, options: FinalReadOptions): () => void {
  const command = [process.execPath, process.argv[1] ?? "", "watch"];
  const args = [...command, "--until-quiet", String(options.quietSeconds)];
  const env = {
    ...process.env,
    // In the environment, not in arguments: an address may hold a password.
    BACKSCROLL_DB: toAbsolute(context.address),
    BACKSCROLL_TENANT: context.tenant,
    [OWNER_VARIABLE]: options.owner,
  };
  const start = (file: string, words: readonly string[], input: "pipe" | "ignore") => {
    // A new process group: clients kill their server's group.
    const settings = { detached: true, env, windowsHide: true };
    const child = spawn(file, words, { ...settings, stdio: [input, "ignore", "ignore"] });
    child.on("error", options.onError);
    letGo(child);
  };
  if (process.platform === "win32") return () => start(args[0] ?? "", args.slice(1), "ignore");
  start("/bin/sh", ["-c", WHEN_CLOSED, "backscroll", ...args], "pipe");
  return () => undefined;
}

/** The event loop does not wait for it; the pipe stays open as long as this process lives. */
function letGo(child: ChildProcess): void {
  child.unref();
  const { stdin } = child as { stdin: (NodeJS.WritableStream & { unref?: () => void }) | null };
  stdin?.on("error", () => undefined);
  stdin?.unref?.();
}

function toAbsolute(address: string): string {
  return /^[a-z]+:/i.test(address) ? address : resolve(address);
}
