/** Derives a title from the requests of a conversation, in order, if its source has none. */

import type { JsonObject } from "../../model/json.ts";
import { type MadeTitle, titleOfRequest } from "./request-title.ts";
import {
  FROM_REQUEST,
  FROM_SOURCE,
  gradeTitle,
  isMadeTitle,
  MAX_TITLE_LENGTH,
  TITLE_FROM_KEY,
  type TitleGrade,
  toOneLine,
} from "./title-text.ts";

/** Later requests are about details. */
const REQUESTS = 12;
const ANSWERS = 6;

export class TitleMaker {
  #requests = 0;
  #answers = 0;
  #best: MadeTitle | undefined;
  #answer: MadeTitle | undefined;

  /** The title has the best grade. */
  get isDone(): boolean {
    return this.#best?.grade === 3 || this.#requests >= REQUESTS;
  }

  /** A user's request, or that of the agent that started this one; without injected text. */
  addRequest(text: string): void {
    if (this.isDone) return;
    this.#requests++;
    const made = titleOfRequest(text);
    if (made !== undefined && made.grade > (this.#best?.grade ?? 0)) this.#best = made;
  }

  /** An answer names the subject where no request does. */
  addAnswer(text: string): void {
    if (this.isDone || this.#answer?.grade === 3 || this.#answers >= ANSWERS) return;
    this.#answers++;
    const heading = /^#{1,3}\s+.+$/m.exec(text)?.[0];
    const made = titleOfRequest(heading ?? text);
    if (made === undefined || OFFER.test(made.title)) return;
    if (made.grade > (this.#answer?.grade ?? 0)) this.#answer = made;
  }

  made(): MadeTitle | undefined {
    const [request, answer] = [this.#best, this.#answer];
    if (request === undefined) return answer;
    return request.grade < 2 && answer?.grade === 3 ? answer : request;
  }
}

/** Answers to a greeting, which are the same in every conversation. */
const OFFER =
  /\b(?:how (?:can|may) I|what (?:can|would|should|do) (?:I|you)|I'?m (?:ready|here|claude)|ready to help|happy to help|nice to meet|let me know|I'?ll help|help you|no response requested|invalid api key|please run)\b/iu;

/**
 * A source's title, if it is distinctive. A long one is a copied request, from which a title is
 * derived.
 */
export function titleFromSource(
  title: string | null,
): { readonly title: string; readonly grade: TitleGrade; readonly isMade: boolean } | undefined {
  const line = toOneLine(title ?? "");
  if (line === "" || gradeTitle(line) === 0) return undefined;
  const isWhole = line.length <= MAX_TITLE_LENGTH && titleOfRequest(line)?.title === line;
  if (isWhole) return { title: line, grade: gradeTitle(line), isMade: false };
  const made = titleOfRequest(title ?? "");
  return made === undefined ? undefined : { ...made, isMade: true };
}

interface TitlePatch {
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
