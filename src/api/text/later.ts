/** Says in a line that a later message says differently what a hit says. */

import type { SearchHit } from "../../search/request.ts";

export function laterNote(
  { supersededBy }: Pick<SearchHit, "supersededBy">,
  sessionId: string,
): string | undefined {
  if (supersededBy === undefined) return undefined;
  const { index, shortId } = supersededBy;
  const session = supersededBy.sessionId === sessionId ? "" : `${shortId} `;
  return `said differently later: ${session}${index === null ? "" : `#${index}`}`.trimEnd();
}
