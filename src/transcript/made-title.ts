/**
 * Titles that were made of a session's first request, because its source had none. They are for
 * people who look for the session; nobody gave them, so nothing that is written for others has them.
 */

import type { JsonObject } from "../model/json.ts";

/** The key in a session's metadata that says so. */
export const TITLE_FROM_KEY = "titleFrom";
export const FROM_REQUEST = "request";

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
