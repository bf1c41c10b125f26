/** When transcripts are followed beside something else: who waits for an answer goes first. */

import type { Context } from "../context.ts";
import { followTranscripts } from "./follow-transcripts.ts";

/** After the first request; and if none comes, after a while. */
const AFTER_REQUEST_MS = 500;
const ANYWAY_MS = 5_000;

/** Follows transcripts from some time on. What goes wrong is told: answers do not depend on it. */
export class Follower {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout;
  #soon = false;
  #following: Promise<void> | undefined;

  constructor(context: Context, signal: AbortSignal, onError: (error: unknown) => void) {
    this.#context = context;
    this.#signal = signal;
    this.#onError = onError;
    this.#timer = setTimeout(() => this.#start(), ANYWAY_MS);
  }

  startSoon(): void {
    if (this.#soon) return;
    this.#soon = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#start(), AFTER_REQUEST_MS);
  }

  /** Once the signal is aborted. */
  ended(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#following ?? Promise.resolve();
  }

  #start(): void {
    this.#following ??= followTranscripts(this.#context, this.#signal).catch(this.#onError);
  }
}
