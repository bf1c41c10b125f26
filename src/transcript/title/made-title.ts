/**
 * The origin of a title. A derived title helps people find the session; it is not the source's own,
 * so exports leave it out. A title without a mark was set by a user or a program here, and no
 * reading of a file replaces it.
 */

import type { JsonObject } from "../../model/json.ts";

/** The metadata key of a title's origin. */
export const TITLE_FROM_KEY = "titleFrom";
export const FROM_REQUEST = "request";
export const FROM_SOURCE = "source";

export function isMadeTitle({ metadata }: { readonly metadata: JsonObject }): boolean {
  return metadata[TITLE_FROM_KEY] === FROM_REQUEST;
}

/** The title set by a user or the source; empty if derived. */
export function givenTitle(session: {
  readonly title: string;
  readonly metadata: JsonObject;
}): string {
  return isMadeTitle(session) ? "" : session.title;
}
