/** Follows transcripts in the background; requests have priority. */

import { keepRunning } from "../../engine/leases/outage.ts";
import type { Context } from "../context.ts";
import { followTranscripts } from "./follow-transcripts.ts";

/** Starts after an idle period, or after a maximum delay under constant requests. */
const QUIET_MS = 500;
const ANYWAY_MS = 5_000;

export interface FollowerOptions {
  readonly signal: AbortSignal;
  /** The lease's owner, for the process that takes over. */
  readonly owner: string;
  readonly onError: (error: unknown) => void;
}

/** Follows transcripts in the background. Failures are reported; answers do not depend on it. */
export class Follower {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #onError: (error: unknown) => void;
  readonly #owner: string;
  readonly #anyway: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #following: Promise<void> | undefined;
  #isReady = false;

  constructor(context: Context, options: FollowerOptions) {
    this.#context = context;
    this.#signal = options.signal;
    this.#onError = options.onError;
    this.#owner = options.owner;
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
      onReady: () => {
        this.#isReady = true;
      },
    };
    const follow = async () => {
      try {
        await followTranscripts(this.#context, settings);
      } finally {
        this.#isReady = false;
      }
    };
    return keepRunning(follow, { signal: this.#signal, onError: this.#onError });
  }
}
