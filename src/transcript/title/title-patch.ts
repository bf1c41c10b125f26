/** The change of a session's title after its files were read. */

import type { JsonObject } from "../../model/json.ts";
import { FROM_REQUEST, FROM_SOURCE, isMadeTitle, TITLE_FROM_KEY } from "./made-title.ts";
import type { MadeTitle } from "./request-title.ts";
import { gradeTitle } from "./says-something.ts";
import { MAX_TITLE_LENGTH } from "./shorten.ts";
import { titleFromSource } from "./title-maker.ts";

export interface TitlePatch {
  readonly title?: string;
  readonly metadata?: JsonObject;
}

/**
 * `source` is the files' current title, `made` the one derived from requests. A title set here
 * stays; a file's title is replaced by the file's next one; a derived title is replaced by either,
 * and by a derived one of a better grade.
 */
export function titlePatch(
  session: { readonly title: string; readonly metadata: JsonObject },
  source: string | null,
  made: MadeTitle | undefined,
): TitlePatch {
  if (isOwn(session, source)) return source === null ? {} : { title: session.title };
  const given = titleFromSource(source);
  if (given !== undefined && !given.isMade) {
    return given.title === session.title && session.metadata[TITLE_FROM_KEY] === FROM_SOURCE
      ? {}
      : { title: given.title, metadata: { [TITLE_FROM_KEY]: FROM_SOURCE } };
  }
  const best = made === undefined || (given?.grade ?? 0) >= made.grade ? given : made;
  if (best === undefined) return session.title === source && source !== "" ? cleared() : {};
  const isBetter = !isMadeTitle(session) || best.grade > gradeTitle(session.title);
  return isBetter ? { title: best.title, metadata: { [TITLE_FROM_KEY]: FROM_REQUEST } } : {};
}

/** Neither the source nor the requests give a usable title. */
function cleared(): TitlePatch {
  return { title: "", metadata: { [TITLE_FROM_KEY]: FROM_REQUEST } };
}

/** Set by a user or a program here: without a mark, and not from a file. */
function isOwn(
  { title, metadata }: { readonly title: string; readonly metadata: JsonObject },
  source: string | null,
): boolean {
  if (title === "" || metadata[TITLE_FROM_KEY] !== undefined) return false;
  // The store cuts a source's title that is too long.
  const begin = title.slice(0, 2 * MAX_TITLE_LENGTH);
  return title !== source && !(begin.length > MAX_TITLE_LENGTH && source?.startsWith(begin));
}
