/**
 * Warms the index of a tenant with one search: it starts the search thread, opens the segments,
 * fills the blob cache with frequent terms, and compiles the code. Without it, the page's first
 * search waits for all of that.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { BackscrollError } from "../model/errors.ts";
import { SEARCH_DEADLINE_MS } from "../model/limits.ts";

/** Frequent words: their posting lists are in every segment. */
const QUERY = "what did we do about the first error in this test";

export interface WarmUpOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Takes at most the default deadline of a search. Never rejects. */
export async function warmUp(
  tenant: Pick<TenantApi, "searchSessions">,
  { signal, onError }: WarmUpOptions,
): Promise<void> {
  try {
    await tenant.searchSessions(QUERY, {
      limit: 1,
      // As the page does; a query that is being typed is never embedded.
      asYouType: true,
      deadlineMs: SEARCH_DEADLINE_MS,
      signal,
    });
  } catch (error) {
    if (signal.aborted || BackscrollError.is(error, "store_closed")) return;
    onError(error);
  }
}
