/** Every session that may have a text, over as many reads as it takes. */

import type { FiltersOf } from "../../model/session-filters.ts";
import type { TextPlace } from "../../search/request.ts";
import type { TextRun } from "../../search/text/text-run.ts";
import { checkPeriod } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type SearchInput, toScope } from "../search.ts";

export type TextScope = Pick<SearchInput, FiltersOf<"trace"> | "since" | "until">;

export async function findSessionsWithText(
  { store, tenant }: EngineContext,
  run: TextRun,
  input: TextScope,
): Promise<readonly string[]> {
  const { since, until } = checkPeriod(input);
  const request = {
    run,
    scope: toScope(input),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until: until - 1 }),
  };
  const found = new Set<string>();
  let after: TextPlace | undefined;
  do {
    const page = await store.findSessionsWithText(
      tenant,
      after === undefined ? request : { ...request, after },
    );
    for (const id of page.sessions) found.add(id);
    after = page.next;
  } while (after !== undefined);
  return [...found];
}
