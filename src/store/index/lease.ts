/**
 * The lease under which a process changes a tenant's index.
 *
 * It spares work: two processes would build the same segment. What keeps the index right is the
 * compare and set of the manifest, which also refuses the epoch of a lease that was taken over.
 */

export interface Lease {
  readonly holder: string;
  /** Grows with each taking. */
  readonly epoch: number;
  /** How long it holds from each renewal on. */
  readonly ms: number;
}

/** By the database's clock. A process that dies keeps others waiting for this long. */
export const LEASE_MS = 30_000;

/** The part of its time after which the next breath renews a lease. */
export const RENEW_AFTER = 0.33;

/**
 * How long a segment stays that no manifest names: somebody may be about to name it, or a search that
 * has no snapshot of the segments may still ask. A search takes half a second at most, and one that
 * misses a segment reads the manifest again.
 */
export const DROPPED_KEPT_MS = 10_000;
