/**
 * Markdown inside of a block as HTML: links are matched first, then emphasis inside and around them, by
 * the delimiter stack of CommonMark. Time is linear.
 */

import { escapeHtml } from "./escape-html.ts";
import { type Token, tokensOf } from "./inline-tokens.ts";

type Run = Token & { type: "run" };

/** The number of brackets and of runs that wait for their end. The oldest give way. */
const MAX_OPEN = 100;
/** A text without them is shown as it is. */
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:/;
const SAFE = /^(?:https?|mailto):/i;

export function renderInline(text: string): string {
  if (!SPECIAL.test(text)) return escapeHtml(text);
  const tokens = tokensOf(text);
  matchBrackets(tokens);
  return render(tokens, 0, tokens.length, false);
}

function matchBrackets(tokens: readonly Token[]): void {
  const open: (Token & { type: "open" })[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === "open") {
      open.push(token);
      if (open.length > MAX_OPEN) open.shift();
    } else if (token.type === "close") {
      const start = open.pop();
      if (start !== undefined && token.href !== undefined) start.end = at;
    }
  }
}

/** A run that may begin emphasis, at its place in the list of HTML. */
interface Opener {
  readonly at: number;
  readonly mark: string;
  readonly closes: boolean;
  /** Characters that are not part of emphasis yet. */
  left: number;
}

/** Renders the tokens from `from` to `to`. Inside of a link, other links are their texts. */
function render(tokens: readonly Token[], from: number, to: number, isInLink: boolean): string {
  const html: string[] = [];
  const openers: Opener[] = [];
  const addLink = (label: string, href: string) => {
    const isLink = !isInLink && SAFE.test(href);
    // Without a target: a shared page is sandboxed and opens no windows.
    const start = `<a href="${escapeHtml(href)}" rel="noreferrer noopener">`;
    html.push(isLink ? `${start}${label}</a>` : label);
  };
  for (let at = from; at < to; at++) {
    const token = tokens[at];
    if (token?.type === "html") {
      if (token.href === undefined) html.push(token.html);
      else addLink(token.html, token.href);
    } else if (token?.type === "run") {
      addRun(token, html, openers);
    } else if (token?.type === "open" && token.end !== undefined) {
      const close = tokens[token.end];
      const href = (close?.type === "close" && close.href) || "";
      addLink(render(tokens, at + 1, token.end, true) || escapeHtml(href), href);
      at = token.end;
    } else if (token !== undefined) {
      html.push(escapeHtml(token.text));
    }
  }
  return html.join("");
}

function addRun(run: Run, html: string[], openers: Opener[]): void {
  const { mark, opens, closes } = run;
  const character = mark.charAt(0);
  let left = mark.length;
  while (closes && left > 0) {
    const found = openers.findLastIndex((opener) => isPair(opener, run));
    const opener = openers[found];
    if (opener === undefined) break;
    const used = left > 1 && opener.left > 1 ? 2 : 1;
    const name = character === "~" ? "del" : used === 2 ? "strong" : "em";
    const inner = (html[opener.at] ?? "").slice(opener.left);
    left -= used;
    opener.left -= used;
    html[opener.at] = `${character.repeat(opener.left)}<${name}>${inner}`;
    html.push(`</${name}>`);
    // Runs between the two stay text.
    openers.length = opener.left > 0 ? found + 1 : found;
  }
  if (opens && left > 0) {
    openers.push({ at: html.length, mark, closes, left });
    if (openers.length > MAX_OPEN) openers.shift();
  }
  html.push(character.repeat(left));
}

/** CommonMark's rule of three parts `**a*b**` into strong text with a star inside. */
function isPair(opener: Opener, closer: Run): boolean {
  if (opener.mark.charAt(0) !== closer.mark.charAt(0)) return false;
  const [first, second] = [opener.mark.length, closer.mark.length];
  const isEither = opener.closes || closer.opens;
  return !isEither || (first + second) % 3 !== 0 || (first % 3 === 0 && second % 3 === 0);
}
