/** All entries of a session, in the order of writing, page by page. */

import type { SessionApi } from "../../engine/interfaces/session-api.ts";
import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";

/** The next page is read while the caller works on this one. */
export async function* treePages(session: SessionApi): AsyncGenerator<readonly Entry[]> {
  const read = (after?: string) => {
    const page = { tree: true, limit: MAX_PAGE };
    return session.listEntries(after === undefined ? page : { ...page, after });
  };
  let page = await read();
  for (;;) {
    const next = page.next === undefined ? undefined : read(page.next);
    // A caller that stops early does not wait for it.
    next?.catch(() => undefined);
    yield page.entries;
    if (next === undefined) return;
    page = await next;
  }
}
