/**
 * Whose title it is. A title that was made of a request is for people who look for the session;
 * nobody gave it, so exports to other formats leave it out. A title without a mark was set by a
 * person or a program here, and no reading of a file replaces it.
 */

import type { JsonObject } from "../../model/json.ts";

/** The key in a session's metadata that says where its title is from. */
export const TITLE_FROM_KEY = "titleFrom";
export const FROM_REQUEST = "request";
export const FROM_SOURCE = "source";

export function isMadeTitle({ metadata }: { readonly metadata: JsonObject }): boolean {
  return metadata[TITLE_FROM_KEY] === FROM_REQUEST;
}

/** The title that somebody, or the source, gave it; empty if nobody did. */
export function givenTitle(session: {
  readonly title: string;
  readonly metadata: JsonObject;
}): string {
  return isMadeTitle(session) ? "" : session.title;
}
