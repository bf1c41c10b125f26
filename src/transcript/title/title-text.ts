import type { JsonObject } from "../../model/json.ts";

/**
 * Grades how well a line distinguishes a conversation: by its number of content words.
 *
 * Greetings, acknowledgements and common orders ("continue", "commit and push") have none.
 */

/** 3: a title. 2: a poor one. 1: better than none. 0: no content. */
export type TitleGrade = 0 | 1 | 2 | 3;

export function gradeTitle(line: string): TitleGrade {
  if (isPlaceholderTitle(line)) return 0;
  return Math.min(3, countContentWords(line)) as TitleGrade;
}

/** A title that agents give before the subject is known. */
export function isPlaceholderTitle(title: string): boolean {
  return PLACEHOLDER.test(title.trim());
}

const PLACEHOLDER =
  /^(?:(?:new|untitled|unnamed|empty|default)(?: (?:session|chat|conversation|thread|agent|task|composer))?|(?:session|chat|conversation|thread|task) ?#?\d*|no title|warmup|child session|subagent)(?:[\s:(–—-][\d\s:.,/()@TZ+–—-]*)?$/iu;

function countContentWords(line: string): number {
  let count = 0;
  for (const [word] of line.matchAll(WORD)) {
    if (UNSPACED.test(word)) count += Math.ceil(word.length / 2);
    else if (word.length > 1 && !FILLERS.has(word.toLowerCase().replaceAll("’", "'"))) count++;
  }
  return count;
}

const WORD = /\p{L}[\p{L}\p{M}\p{N}_'’]*(?:[.-][\p{L}\p{N}_]+)*/gu;

/** Scripts without spaces: two letters count as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const FILLERS: ReadonlySet<string> = new Set(
  `a an the this that these those it its it's i i'm i'd i'll i've me my mine we we're we'd our us you
  you're your he she they them their there here is are am be been being was were do does did done don't
  doing have has had can can't could will would should may might must shall let let's lets to of in on
  at by for from with without into onto about as and or but so if then than too also just only very
  more most some any all both each every one two first second next last again now today still yet not
  no nope yes yeah yep yup sure ok okay k fine good great nice cool perfect thanks thank thx please pls
  plz hi hello hey hallo hola yo morning evening afternoon bye sorry go going ahead continue proceed
  keep on resume start begin run commit push stop wait retry try exit quit help make it's what what's
  how why who when where which get give got want need like look see check think know tell show say said
  thing things stuff something anything everything way lot bit up out off over down back right well
  really actually maybe ja nein bitte danke weiter mach oui non merci si gracias por favor da`.split(
    /\s+/,
  ),
);

/** Fits a title: one line, cut between words. */

/** A title takes about a line of a terminal, in UTF-16 units. */
export const MAX_TITLE_LENGTH = 80;

/** Text on one line, without characters that a text column refuses. */
export function toOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}

/** At most `MAX_TITLE_LENGTH`: the first sentence if it is a title, else cut between words. */
export function shortenTitle(line: string): string {
  const title = toOneLine(line);
  if (title.length <= MAX_TITLE_LENGTH) return title;
  const sentence = /^.{40,79}?[.!?](?=\s+\p{Lu})/u.exec(title)?.[0];
  if (sentence !== undefined) return sentence;
  const cut = title.slice(0, MAX_TITLE_LENGTH - 1);
  const space = cut.lastIndexOf(" ");
  const kept = space > MAX_TITLE_LENGTH / 2 ? cut.slice(0, space) : cut;
  // The cut may have split a surrogate pair.
  return `${kept.replace(/[\uD800-\uDBFF]$/, "").replace(/(?<![\s,;:([{–—-])[\s,;:([{–—-]+$/u, "")}…`;
}

/**
 * The origin of a title. A derived title helps people find the session; it is not the source's own,
 * so exports leave it out. A title without a mark was set by a user or a program here, and no
 * reading of a file replaces it.
 */

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
