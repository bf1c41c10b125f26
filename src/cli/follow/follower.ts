/** When transcripts are followed beside something else: who waits for an answer goes first. */

import { pause } from "../../engine/pause.ts";
import type { Context } from "../context.ts";
import { followTranscripts } from "./follow-transcripts.ts";

/** Once nothing has been asked for so long; and if somebody asks all the time, after a while. */
const QUIET_MS = 500;
const ANYWAY_MS = 5_000;
/** After a failure, such as a store that was busy for too long. */
const RETRY_MS = 30_000;

/** Follows transcripts from some time on. What goes wrong is told: answers do not depend on it. */
export class Follower {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #onError: (error: unknown) => void;
  readonly #anyway: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #following: Promise<void> | undefined;

  constructor(context: Context, signal: AbortSignal, onError: (error: unknown) => void) {
    this.#context = context;
    this.#signal = signal;
    this.#onError = onError;
    this.#anyway = setTimeout(() => this.#start(), ANYWAY_MS);
  }

  /** Somebody has asked for something. */
  asked(): void {
    if (this.#following !== undefined) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#start(), QUIET_MS);
  }

  /** Once the signal is aborted. */
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

  async #follow(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await followTranscripts(this.#context, this.#signal);
      } catch (error) {
        this.#onError(error);
        await pause(RETRY_MS, this.#signal);
      }
    }
  }
}
