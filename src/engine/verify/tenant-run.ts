/** The state of a tenant's verification. */

import type { Store } from "../../store/store.ts";
import type { Problems } from "./problems.ts";

export interface TenantRun {
  readonly store: Store;
  readonly tenant: string;
  readonly problems: Problems;
  readonly counted: Counted;
  /** Sessions that exist according to the feed. */
  readonly inFeed: Set<string>;
  readonly onProgress: () => void;
}

/** Counts of checked items. */
export interface Counted {
  sessions: number;
  entries: number;
  changes: number;
}
