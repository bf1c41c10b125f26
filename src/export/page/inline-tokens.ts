/**
 * Markdown inside of a block as tokens: code, addresses, brackets and runs of emphasis, with all text
 * escaped. Tags are text. Time is linear.
 */

import { REDACTED } from "../../secrets/redact.ts";
import { escapeHtml } from "./escape-html.ts";

export type Token =
  /** With an address if it is a link by itself. */
  | { readonly type: "html"; readonly html: string; readonly href?: string }
  | {
      readonly type: "run";
      readonly mark: string;
      readonly opens: boolean;
      readonly closes: boolean;
    }
  /** `end` is the index of its `]` if both make a link. */
  | { readonly type: "open"; readonly text: string; end?: number }
  | { readonly type: "close"; readonly text: string; readonly href: string | undefined };

/** A longer run of `*` or `_` draws a line and emphasises nothing. */
const MAX_RUN = 16;
/** Nested parentheses in an address. The bound lets a search for its end pass few other links. */
const MAX_PARENTHESES = 8;

const PLAIN = /[^\\`*_~[\]!<&\nh]+/y;
const RUN = /\*+|_+|~~/y;
const TICKS = /`+/y;
const BLANKS = /[ \t]+/y;
const TAG = /<[!/]?[a-zA-Z][^<>\n]*>/y;
const ADDRESS = /<(?:https?:\/\/|mailto:)[^\s<>]+>/iy;
const BARE_URL = /https?:\/\/[\p{L}\p{N}](?:[^\s<>`"[\]]|\[redacted\])*/uy;
const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp);/y;
const TITLE = /[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))/y;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&nbsp;": "\u00a0",
};

/** Code is a token from here on; links and emphasis are matched later. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const codeEnds = codeEndsOf(text);
  let plain = "";
  const endPlain = () => {
    if (plain !== "") tokens.push({ type: "html", html: escapeHtml(plain) });
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const [length, found] = tokenAt(text, at, codeEnds.get(at));
    at += length;
    if (typeof found === "string") {
      plain += found;
    } else {
      endPlain();
      tokens.push(found);
    }
  }
  endPlain();
  return tokens;
}

/** The length of what is at `at`, and its token or, of plain text, what a reader sees. */
function tokenAt(text: string, at: number, codeEnd: number | undefined): [number, Token | string] {
  const character = text.charAt(at);
  const next = text.charAt(at + 1);
  switch (character) {
    case "\n":
      return [1, { type: "html", html: "<br>\n" }];
    case "\\":
      // Before the end of a line it asks for the line break that is kept anyway.
      if (next === "\n") return [1, ""];
      return PUNCTUATION.test(next) ? [2, next] : [1, character];
    case "`": {
      const span = codeEnd === undefined ? match(TICKS, text, at) : text.slice(at, codeEnd);
      if (codeEnd === undefined) return [span.length, span];
      return [span.length, { type: "html", html: `<code>${escapeHtml(codeIn(span))}</code>` }];
    }
    case "*":
    case "_":
    case "~": {
      const mark = match(RUN, text, at) || character;
      if (mark === "~" || mark.length > MAX_RUN) return [mark.length, mark];
      return [mark.length, { type: "run", mark, ...flanks(text, at, mark) }];
    }
    case "[":
      if (text.startsWith(REDACTED, at)) return [REDACTED.length, REDACTED];
      return [1, { type: "open", text: character }];
    case "!":
      return next === "[" ? [2, { type: "open", text: "![" }] : [1, character];
    case "]": {
      const { end, href } = destinationAt(text, at + 1);
      return [end - at, { type: "close", text: text.slice(at, end), href }];
    }
    case "<": {
      const address = match(ADDRESS, text, at);
      const tag = address || match(TAG, text, at) || character;
      return [tag.length, address === "" ? tag : autolink(address.slice(1, -1))];
    }
    case "&": {
      const entity = match(ENTITY, text, at) || character;
      return [entity.length, CHARACTERS[entity] ?? entity];
    }
    default: {
      const url = urlAt(text, at);
      if (url !== "") return [url.length, autolink(url)];
      const plain = character + match(PLAIN, text, at + 1);
      return [plain.length, plain];
    }
  }
}

function autolink(href: string): Token {
  return { type: "html", html: escapeHtml(href), href };
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.test(text) ? text.slice(at, pattern.lastIndex) : "";
}

/** The ends of code spans by their starts: a span ends with the next run of as many backticks. */
function codeEndsOf(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const next = new Map<number, number>();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    const end = next.get(run.length);
    if (end !== undefined) ends.set(index, end);
    next.set(run.length, index + run.length);
  }
  return ends;
}

/** Without the backticks, and without the blanks that part them from backticks inside. */
function codeIn(span: string): string {
  const ticks = match(TICKS, span, 0).length;
  const code = span.slice(ticks, -ticks).replaceAll("\n", " ");
  const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
  return isPadded ? code.slice(1, -1) : code;
}

/** An address in the text, without the punctuation after it and the parenthesis around it. */
function urlAt(text: string, at: number): string {
  if (text.charAt(at) !== "h" || /\w/.test(text.charAt(at - 1))) return "";
  const url = match(BARE_URL, text, at);
  let surplus = url.split(")").length - url.split("(").length;
  let end = url.length;
  for (; end > 0; end--) {
    const last = url.charAt(end - 1);
    if (last === ")" ? surplus-- <= 0 : !"?!.,:;*_~'|\\".includes(last)) break;
  }
  return url.slice(0, end);
}

/** Whether a run can begin and end emphasis: CommonMark's left- and right-flanking. */
function flanks(text: string, at: number, run: string) {
  const before = text.charAt(at - 1);
  const after = text.charAt(at + run.length);
  const isLeft = isWord(after) || (isSign(after) && !isWord(before));
  const isRight = isWord(before) || (isSign(before) && !isWord(after));
  const anywhere = !run.startsWith("_");
  return {
    opens: isLeft && (anywhere || !isRight || isSign(before)),
    closes: isRight && (anywhere || !isLeft || isSign(after)),
  };
}

function isSign(character: string): boolean {
  return /[\p{P}\p{S}]/u.test(character);
}

function isWord(character: string): boolean {
  return character.trim() !== "" && !isSign(character);
}

/** The address in parentheses behind a `]`. Without one, the end is the start. */
function destinationAt(text: string, start: number): { end: number; href: string | undefined } {
  const none = { end: start, href: undefined };
  if (text.charAt(start) !== "(") return none;
  let at = start + 1 + match(BLANKS, text, start + 1).length;
  const isBracketed = text.charAt(at) === "<";
  if (isBracketed) at++;
  const from = at;
  for (let depth = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (isBracketed ? "<>\n".includes(character) : " \t\n<".includes(character)) break;
    if (character === "(" && ++depth > MAX_PARENTHESES) break;
    if (character === ")" && --depth < 0 && !isBracketed) break;
    if (character === "\\") at++;
  }
  const href = text.slice(from, at).replace(/\\([!-/:-@[-`{-~])/g, "$1");
  if (isBracketed && text.charAt(at++) !== ">") return none;
  at += match(TITLE, text, at).length;
  at += match(BLANKS, text, at).length;
  return text.charAt(at) === ")" ? { end: at + 1, href } : none;
}
