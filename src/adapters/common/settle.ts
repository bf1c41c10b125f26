/**
 * Retries of writes that lose to concurrent writers, and a fallback for messages with refused
 * blocks.
 */

import type { EntryInput, MessageEntryInput } from "../../engine/writing/entry-input.ts";
import { BackscrollError } from "../../model/errors.ts";

/** Retries of a compare-and-swap that lost to a concurrent writer. */
const MAX_TRIES = 16;

/**
 * Retries a compare-and-swap that lost to a concurrent writer. A `stale_leaf` of the caller's own, with
 * `expected` in its details, is final.
 */
export async function untilSettled<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await change();
    } catch (error) {
      const isOthers = BackscrollError.is(error, "stale_leaf") && !("expected" in error.details);
      if (!isOthers || tries === MAX_TRIES) throw error;
    }
  }
}

/** Retries a write of records after a conflict, with the records as they are then. */
export async function untilWritten<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const isOthers =
        BackscrollError.is(error, "record_conflict") ||
        BackscrollError.is(error, "record_not_found");
      if (!isOthers || tries === MAX_TRIES) throw error;
    }
  }
}

/**
 * Stores messages, without their blocks where those are refused: the adapter returns the original
 * beside them.
 */
export async function storeOrBare<Result>(
  inputs: readonly MessageEntryInput[],
  store: (entries: readonly EntryInput[]) => Promise<Result>,
): Promise<Result> {
  try {
    return await store(inputs);
  } catch (error) {
    const isRefused =
      BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
    if (!isRefused) throw error;
    return store(inputs.map((input) => ({ ...input, content: [] })));
  }
}
