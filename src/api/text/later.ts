/** Says in a line what no longer holds: what a later message says differently, what a person marked. */

import type { Mark, Place } from "../../model/mark.ts";
import type { SearchHit } from "../../search/request.ts";

/** The notes of a hit; most have none. */
export function holdNotes(
  { supersededBy, mark, changedFiles, onlyAsked }: Partial<SearchHit>,
  sessionId: string,
): string[] {
  return [
    ...(mark === undefined ? [] : [markNote(mark, sessionId)]),
    ...(supersededBy === undefined
      ? []
      : [`said differently later: ${refOf(supersededBy, sessionId)}`]),
    ...(onlyAsked === undefined ? [] : [askedNote(onlyAsked)]),
    ...(changedFiles === undefined ? [] : [filesNote(changedFiles)]),
  ];
}

/** `asked the same: 3 other sessions, k3f9 …` */
export function askedNote(others: readonly string[]): string {
  if (others.length === 0) return "only asked";
  const sessions = others.length === 1 ? "1 other session" : `${others.length} other sessions`;
  const shown = others.slice(0, SHOWN_ASKING).join(" ");
  const more = others.length > SHOWN_ASKING ? " …" : "";
  return `asked the same: ${sessions}, ${shown}${more}`;
}

const SHOWN_ASKING = 5;

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

/** `2 of 3 files changed since, last by 1a2b3c4 (12 Nov 2026)`. */
function filesNote({ touched, changed, commit, committedAt }: ChangedFiles): string {
  const day = DAY.format(committedAt);
  const files = `${changed} of ${touched} ${touched === 1 ? "file" : "files"}`;
  return `${files} changed since, last by ${commit} (${day})`;
}

type ChangedFiles = NonNullable<SearchHit["changedFiles"]>;

const DAY = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

function refOf({ sessionId, shortId, index }: Place, own: string): string {
  const message = index === null ? "" : `#${index}`;
  return sessionId === own && message !== "" ? message : `${shortId}${message}`;
}
