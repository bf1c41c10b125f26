/**
 * What was asked before an act? The last request with content: "yes", "do 1 and 3" and "continue" are
 * followed back to what they answer, and a compaction's summary is nobody's request.
 */

import { asksClient } from "../engine/sessions/outcome.ts";
import type { Act } from "../recap/read-acts.ts";
import type { RecapLine } from "../recap/recap.ts";
import { personsWords } from "../rules/persons-words.ts";

const CONSENT =
  /^(?:(?:yes|yep|yup|yeah|y|ok(?:ay)?|k|sure|great|perfect|cool|nice|thanks?|thank you|good|all good|lgtm|right|correct|exactly|agreed|please|now|then|and|go ahead|go on|go for it|just|do (?:it|that|this|so|them|both|all)|let'?s (?:do|try) (?:it|that|this)|let'?s (?:continue|go|proceed)|can you (?:do|fix) (?:it|that|this)|fix (?:it|that|this)|continue|proceed|keep going|carry on|try again|again|retry|(?:sounds|looks) good|(?:that )?makes sense|it'?s (?:good|perfect|fine)|both|all(?: of (?:it|them))?|system|hi|hello|hey|👍)(?=$|[\s,.!?;:)-])[\s,.!?;:)-]*)+/iu;
const COMMITS =
  /^(?:(?:can|could) you |please |now |ok |let'?s )*(?:commit|push|merge|rebase|amend|squash|(?:create|open|make|raise) (?:a|the) (?:draft )?pr)(?:[\s,&+-]+(?:a|pr|create|open|raise|draft|this|it|that|them|all|and|then|please|commit|push|the|changes|to|origin|main|branch))*[\s.!]*$/i;
const COMMAND = /^\/([\w:.-]{1,80})(?:\s+(?:https?:\S+|#?\d+))*\s*/;
const BARE_COMMAND = /^\/[\w:.-]{1,80}(?:\s+(?:https?:\S+|#?\d+))*\s*$/;
/** Lines of logs and of a shell that the person pasted. */
const LOG =
  /^[^\S\n]*(?:[[{"a-z]{0,9}\d{4}-\d\d-\d\d[T ]\d\d:|\S{1,80}@\S{1,80} .{0,80}[%$#] ).*$/m;
const LOGS = new RegExp(LOG, "gm");
/** The client's, whatever the transcript calls it. */
const CLIENTS =
  /^(?:\[Request interrupted|Full transcript available at:|<(?:task|agent)-notification|Caveat:|This session is being continued|Operation stopped by hook)/;
/** Shorter requests mean what came before, too. */
const FEW_WORDS = 6;
/** A shorter question does not say what to do. */
const QUESTION_WORDS = 5;
const POINTS =
  /\b(?:this|that|it|these|those|them|they|the (?:same|other|rest|mediums?|first|second|last))\b/i;
const ENOUGH_WORDS = 15;
/** It goes on with what was said, or is a question, which asks for no edit. */
const GOES_ON =
  /^(?:and|but|or|so|also|no|nope|ah+|oh|hm+|mh+|emm?|well|weird|wait|actually|question|same|why|what|where|when|how|who|which|is|isn'?t|are|aren'?t|was|were|has|did|didn'?t|does|doesn'?t|don'?t (?:we|you|they)|do (?:we|you|they))\b/i;
const MANY_WORDS = 20;
const WORD = /[\p{L}_/.-][\p{L}\p{N}_/.-]{2,}/gu;
const MAX_TEXT = 600;
const MAX_QUOTE = 160;

export interface Asked extends RecapLine {
  /** The act of the earliest request in it. */
  readonly from: number;
  /** False: it means something that was said before these acts. */
  readonly isWhole: boolean;
}

/** Undefined: no request before the act has content. */
export function askedBefore(acts: readonly Act[], before: number): Asked | undefined {
  /** The last, the one before it, and the first before them that is whole. */
  const found: Asked[] = [];
  for (let at = before - 1; at >= 0 && found.at(-1)?.isWhole !== true; at--) {
    const act = acts[at];
    if (act?.type !== "said" || act.role !== "user") continue;
    const text = requestIn(act.text);
    if (text === "") continue;
    const request = answering(text, saidBefore(acts, at));
    if (request === undefined) continue;
    if (found.length > 0 && (BARE_COMMAND.test(text) || (found.length > 1 && !request.isWhole))) {
      continue;
    }
    found.push({ index: act.index, from: at, ...request });
  }
  const [asked, ...followed] = found;
  if (asked === undefined) return undefined;
  const after = followed.map(({ index, text }) => `after #${index}: "${cut(text)}"`);
  return {
    index: asked.index,
    text: after.length === 0 ? asked.text : `${asked.text} (${after.join(", ")})`,
    from: found.at(-1)?.from ?? asked.from,
    isWhole: found.at(-1)?.isWhole === true,
  };
}

/** A request with what it takes up of the agent's words before it; undefined if it asks nothing. */
function answering(said: string, told: string): Pick<Asked, "text" | "isWhole"> | undefined {
  const picked = pickedOptions(said, told);
  if (picked !== "") return { text: `${said}: ${picked}`, isWhole: false };
  const asked = said.replace(COMMAND, "").replace(LOGS, "");
  const content = asked.replace(CONSENT, "").trim();
  const words = content.match(WORD)?.length ?? 0;
  const points = POINTS.test(content) ? ENOUGH_WORDS : FEW_WORDS;
  const isWhole = words >= (GOES_ON.test(content) ? MANY_WORDS : points);
  const question = isWhole || content === asked.trim() ? "" : lastQuestion(told);
  if (question !== "") return { text: `${said}: "${question}"`, isWhole };
  const hasWords = words > 0 || BARE_COMMAND.test(said) || LOG.test(said);
  return hasWords ? { text: said.slice(0, MAX_TEXT), isWhole } : undefined;
}

/** "" if it asks for nothing but a commit, or the client for something. */
function requestIn(text: string): string {
  if (CLIENTS.test(text) || asksClient(text)) return "";
  // A tag without an end, as in "resume <branch> fails", leaves nothing.
  const words = personsWords(text).trim() || (text.startsWith("<") ? "" : text);
  const said = words.replace(LOGS, "").trim() || words;
  const [command, name = ""] = COMMAND.exec(said) ?? [];
  const isCommit = command === undefined ? COMMITS.test(said) : COMMITS.test(name);
  return isCommit ? "" : said;
}

/** The agent's words before a request. */
function saidBefore(acts: readonly Act[], at: number): string {
  const told: string[] = [];
  for (let i = at - 1; i >= 0; i--) {
    const act = acts[i];
    if (act?.type !== "said") continue;
    if (act.role === "user") break;
    told.unshift(act.text);
    if (told.length === 2) break;
  }
  return told.join("\n");
}

/** A longer request, or one that quotes its item, says by itself what it wants. */
const LONGEST_PICK = 200;
const QUOTES_ITEM = /^\W*\d{1,2}[.)]\s+\p{L}/u;
const LEAVES_OUT = /\b(?:skip|except|without|leave|ignore|not|don'?t)\b/i;
/** A number that counts nothing: "do 1 and 3", "the fix for 2 first", not "2 tests". */
const NUMBER = /(?<![\p{L}\p{N}_.:/-])(\d{1,2})(?=$|[\s,;:!?&+)]|\.(?!\d))(?!\s+\p{L}{3,}s\b)/gu;
const OPTION = /^[\s*#|-]*(?:option |issue )?(\d{1,2})\s*[.):|]?[*\s]+(\S.*)$/i;
const MOST_OPTIONS = 4;

/** The numbered options of the agent's words that a request picks. */
function pickedOptions(request: string, told: string): string {
  if (request.length > LONGEST_PICK) return "";
  if (QUOTES_ITEM.test(request) || LEAVES_OUT.test(request)) return "";
  const numbers = new Set(Array.from(request.matchAll(NUMBER), ([, number]) => number));
  const isAll = /^[^\w']*(?:[\w']+[^\w']+){0,4}all\b.{0,20}$/i.test(request);
  if (numbers.size === 0 && !isAll) return "";
  const options = new Map<string, string>();
  for (const line of told.split("\n")) {
    const [, number, text] = OPTION.exec(line) ?? [];
    if (number !== undefined && (isAll || numbers.has(number)))
      options.set(number, cut(plain(text ?? "")));
  }
  return [...options]
    .slice(0, MOST_OPTIONS)
    .map(([number, text]) => `"${number}. ${text}"`)
    .join(", ");
}

/** The question that a consent answers, if it says what to do. */
function lastQuestion(told: string): string {
  const question = told
    .split(/(?<=[.!?])\s+|\n+/)
    .map(plain)
    .findLast((sentence) => sentence.endsWith("?"));
  return question !== undefined && (question.match(WORD)?.length ?? 0) >= QUESTION_WORDS
    ? cut(question)
    : "";
}

function plain(text: string): string {
  return text.replace(/\*\*|__|[`|]/g, "").trim();
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_QUOTE ? line : `${line.slice(0, MAX_QUOTE - 1).toWellFormed()}…`;
}
