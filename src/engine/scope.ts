/** What every part of the engine needs: a store, one tenant, a clock and new ids. */

import type { Store } from "../store/store.ts";

export interface Scope {
  readonly store: Store;
  readonly tenant: string;
  now(): number;
  newId(): string;
  /** How long chunks of an open message may wait before they are stored. */
  readonly flushMs: number;
  /** The messages that are being written in this process, of every tenant: closing stores them. */
  readonly openMessages: Set<{ flush(): Promise<void> }>;
  /** How long an open message outlives its writer's last sign of life. */
  readonly leaseMs: number;
}
