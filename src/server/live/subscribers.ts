/** How many follow the feed now, how they are kept, and how many were dropped. */

import type { EventStreamOptions } from "./event-stream.ts";

export interface LiveOptions {
  readonly heartbeatMs?: number;
  readonly stallMs?: number;
}

const HEARTBEAT_MS = 15_000;
const STALL_MS = 30_000;

export class Subscribers {
  readonly #heartbeatMs: number;
  readonly #stallMs: number;
  #open = 0;
  #dropped = 0;

  constructor(options: LiveOptions = {}) {
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#stallMs = options.stallMs ?? STALL_MS;
  }

  get count(): number {
    return this.#open;
  }

  /** Readers that took nothing for too long. */
  get dropped(): number {
    return this.#dropped;
  }

  /** How often a follower is told that the server is there, and looked at whether it may still be. */
  get heartbeatMs(): number {
    return this.#heartbeatMs;
  }

  /** Counts a subscriber in until its stream has ended, however that came. */
  open(
    cutOff: () => void,
  ): Pick<EventStreamOptions, "heartbeatMs" | "stallMs" | "onDrop" | "onEnd"> {
    this.#open++;
    return {
      heartbeatMs: this.#heartbeatMs,
      stallMs: this.#stallMs,
      onDrop: () => {
        this.#dropped++;
        cutOff();
      },
      onEnd: () => {
        this.#open--;
      },
    };
  }
}
