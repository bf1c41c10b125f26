/**
 * The computations of the index that a store runs, and where they come from.
 *
 * A generator cannot cross a thread, so a storage thread loads the code by itself. A test may name
 * another module: the whole machinery of a store then runs with an index of its own.
 */

import type { Asking, MaintenanceReport, MaintenanceTask } from "../../search/port.ts";

/** What is searched for, and what is found: a store hands them through. */
export type SearchRequest = object;
export type SearchAnswer = object;

export interface IndexCode {
  /** What searches of one tenant may keep between them. It lives as long as the store is open. */
  createCache(): unknown;
  search(request: SearchRequest, cache: unknown): Asking<SearchAnswer>;
  maintain(task: MaintenanceTask): Asking<MaintenanceReport>;
}

/** `module` is the URL of a module that exports an `indexCode`. */
export async function loadIndexCode(module: string | undefined): Promise<IndexCode> {
  if (module === undefined) return NO_INDEX;
  const { indexCode } = (await import(module)) as { readonly indexCode: IndexCode };
  return indexCode;
}

/** Whether there is anything to keep up by default. */
export const HAS_INDEX: boolean = false;

/** Until the search itself is there. */
const NO_INDEX: IndexCode = {
  createCache: () => undefined,
  // biome-ignore lint/correctness/useYield: it has nothing to ask.
  *search() {
    return {};
  },
  // biome-ignore lint/correctness/useYield: it has nothing to ask.
  *maintain() {
    return { busy: false, more: false, through: 0, head: 0, documents: 0 };
  },
};
