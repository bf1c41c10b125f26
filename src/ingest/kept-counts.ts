/** Limits of a reader's memory of a file. */

/**
 * Ids of one session known at a time. The largest file seen, of 300 MB, has 150,000 lines. A
 * reference to an older id is a dangling one.
 */
export const KEPT_IDS = 200_000;

/** The limit of open calls: agents make a few at a time, and some never get a result. */
export const KEPT_CALLS = 10_000;
