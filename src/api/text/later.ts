/** Says in a line what no longer holds: what a later message says differently, what a person marked. */

import type { Mark, Place } from "../../model/mark.ts";
import type { SearchHit } from "../../search/request.ts";

/** The notes of a hit; most have none. */
export function holdNotes(
  { supersededBy, mark }: Pick<SearchHit, "supersededBy" | "mark">,
  sessionId: string,
): string[] {
  return [
    ...(mark === undefined ? [] : [markNote(mark, sessionId)]),
    ...(supersededBy === undefined
      ? []
      : [`said differently later: ${refOf(supersededBy, sessionId)}`]),
  ];
}

/** `wrong (ana): it was Friday`, `replaced by #114: …`; of a session, with that word before it. */
export function markNote(
  { entryId, kind, reason, actor, replacedBy }: Mark,
  sessionId: string,
): string {
  const what = entryId === null ? "session " : "";
  const by = replacedBy === null ? "" : ` by ${refOf(replacedBy, sessionId)}`;
  const who = actor === null ? "" : ` (${actor})`;
  return `${what}${kind}${by}${who}: ${reason}`.replace(/\s+/g, " ");
}

function refOf({ sessionId, shortId, index }: Place, own: string): string {
  const message = index === null ? "" : `#${index}`;
  return sessionId === own && message !== "" ? message : `${shortId}${message}`;
}
