/**
 * Stores agents' transcripts beside requests, which have priority; and the final read: an agent
 * writes its last lines after it has closed or killed its MCP server. A detached process reads them
 * when this one has ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { FollowInput } from "../archive/watch.ts";
import type { Engine } from "../engine/engine.ts";
import { keepRunning } from "../engine/leases/outage.ts";
import { thisMachine } from "../ingest/identity/identity.ts";
import { defined } from "../model/defined.ts";
import type { Context } from "./context.ts";

/** Starts after an idle period, or after a maximum delay under constant requests. */
const QUIET_MS = 500;
const ANYWAY_MS = 5_000;

export interface FollowerOptions {
  readonly signal: AbortSignal;
  /** The lease's owner, for the process that takes over. */
  readonly owner: string;
  readonly onError: (error: unknown) => void;
  /** The store of a process that holds it on threads; another handle if left out. */
  readonly engine?: () => Promise<Engine>;
  readonly onOutcome?: () => void;
}

/** Follows transcripts in the background. Failures are reported; answers do not depend on it. */
export class Follower {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #onError: (error: unknown) => void;
  readonly #owner: string;
  readonly #engine: (() => Promise<Engine>) | undefined;
  readonly #onOutcome: (() => void) | undefined;
  readonly #anyway: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #following: Promise<void> | undefined;
  #isReady = false;

  constructor(context: Context, options: FollowerOptions) {
    this.#context = context;
    this.#signal = options.signal;
    this.#onError = options.onError;
    this.#owner = options.owner;
    this.#engine = options.engine;
    this.#onOutcome = options.onOutcome;
    this.#anyway = setTimeout(() => this.#start(), ANYWAY_MS);
  }

  /** Whether this process has caught up and gets file events. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Records a request. */
  asked(): void {
    if (this.#following !== undefined) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#start(), QUIET_MS);
  }

  /** Resolves after the signal is aborted. */
  ended(): Promise<void> {
    clearTimeout(this.#anyway);
    clearTimeout(this.#quiet);
    return this.#following ?? Promise.resolve();
  }

  #start(): void {
    clearTimeout(this.#anyway);
    clearTimeout(this.#quiet);
    this.#following ??= this.#follow();
  }

  #follow(): Promise<void> {
    const settings = {
      signal: this.#signal,
      owner: this.#owner,
      ...defined({ onOutcome: this.#onOutcome }),
      onReady: () => {
        this.#isReady = true;
      },
    };
    const follow = async () => {
      try {
        await followTranscripts(this.#context, settings, await this.#engine?.());
      } finally {
        this.#isReady = false;
      }
    };
    return keepRunning(follow, { signal: this.#signal, onError: this.#onError });
  }
}

/**
 * Resolves when the signal is aborted. Of the processes of this machine that do so for one tenant
 * of one store, a lease elects one.
 */
export async function followTranscripts(
  context: Context,
  input: Omit<FollowInput, "environment">,
  shared?: Engine,
): Promise<void> {
  const { address, tenant } = context;
  // Loaded on demand, so that pending calls do not wait for it.
  const [follow, { open }] = await Promise.all([
    import("../archive/watch.ts"),
    import("../open.ts"),
  ]);
  const settings = { ...input, environment: thisMachine() };
  if (shared !== undefined) return follow.followTranscripts(shared, tenant, settings);
  // A separate store handle with threads: heavy writes must not delay answers. The foreground
  // reports losses.
  const onLoss = () => undefined;
  const engine = await open(address, { durability: "process", onLoss });
  try {
    await follow.followTranscripts(engine, tenant, settings);
  } finally {
    await engine.close();
  }
}

/** Seconds without a write after which a transcript counts as complete. */
export const QUIET_SECONDS = 10;

/** Names the lease's owner to the detached process; see `FollowInput`. */
export const OWNER_VARIABLE = "BACKSCROLL_LEASE_OWNER";

/** Waits until its input is closed, also because its holder was killed. */
const WHEN_CLOSED = 'read -r _; exec "$@"';

interface FinalReadOptions {
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
