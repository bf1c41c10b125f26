/**
 * Default durations of leases, in milliseconds: how long other processes wait for a holder that
 * died. A holder renews its lease every third of it.
 */

/** Background work, and open messages. */
export const LEASE_MS = 30_000;

/** Work that a user waits for: an answer, a memory flush. */
export const SHORT_LEASE_MS = 15_000;
