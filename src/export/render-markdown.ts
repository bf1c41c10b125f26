/**
 * Markdown as HTML: the tokens of marked, which the server's page uses with the same options.
 *
 * HTML is shown as it was written. All text is escaped; the only attribute with text from a
 * transcript is the address of a link. What would take marked more than linear time stays text.
 */

import {
  Lexer,
  type MarkedToken,
  type Token,
  Tokenizer,
  type Tokens,
  type TokensList,
} from "marked";
import { REDACTED } from "../secrets/redact.ts";
import { escapeHtml } from "./escape-html.ts";

/** Blocks and emphasis inside of each other. Deeper ones are text. */
const MAX_DEPTH = 12;
/** Signs of Markdown in one paragraph, item or cell. Marked compares each with each. */
const MAX_SIGNS = 400;
/** Cells of a table, whose rows marked makes equally long. Further rows are text. */
const MAX_CELLS = 20_000;
/** A heading of a message ranks below the title of the page and the author of the message. */
const HEADING_OFFSET = 2;

const SIGN = /[*_~!`[\]<]/g;
const DELIMITERS = /^[ \t-]*[:|][ \t|:-]*$/;
const SAFE = /^(?:https?|mailto):/i;
const ENTITY = /&amp;(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/gi;

export function renderMarkdown(text: string): string {
  const tokenizer = new BoundedTokenizer();
  return blocks(new BoundedLexer({ gfm: true, breaks: true, tokenizer }).lex(text));
}

class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.#inside(source, tokens, () => super.blockTokens(source, tokens, isClipped));
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const signs = source.match(SIGN)?.length ?? 0;
    if (signs > MAX_SIGNS) return asText(source, tokens);
    return this.#inside(source, tokens, () => super.inlineTokens(source, tokens));
  }

  #inside(source: string, tokens: Token[], read: () => Token[]): Token[] {
    if (this.#depth >= MAX_DEPTH) return asText(source, tokens);
    this.#depth++;
    read();
    this.#depth--;
    return tokens;
  }
}

function asText(source: string, tokens: Token[]): Token[] {
  tokens.push({ type: "text", raw: source, text: source });
  return tokens;
}

class BoundedTokenizer extends Tokenizer {
  /** A mask is text, whatever follows it. */
  override escape(source: string): Tokens.Escape | undefined {
    if (!source.startsWith(REDACTED)) return super.escape(source);
    return { type: "escape", raw: REDACTED, text: REDACTED };
  }

  /** Looks at two lines first: marked reads all rows, and would for each line of a text. */
  override table(source: string): Tokens.Table | undefined {
    const [head = "", delimiters = ""] = source.split("\n", 2);
    const columns = columnsOf(head);
    if (!DELIMITERS.test(delimiters) || columnsOf(delimiters) !== columns) return undefined;
    return super.table(source.split("\n", MAX_CELLS / columns).join("\n"));
  }
}

function columnsOf(row: string): number {
  return row.replace(/\\\||^\s*\||\|\s*$/g, "").split("|").length;
}

function blocks(tokens: readonly Token[]): string {
  const shown = (tokens as readonly MarkedToken[]).filter(({ type }) => type !== "space");
  return shown.map((token) => tokenHtml(token, false)).join("\n");
}

/** Inside of a link, other links are their texts. */
function inline(tokens: readonly Token[], isInLink = false): string {
  return (tokens as readonly MarkedToken[]).map((token) => tokenHtml(token, isInLink)).join("");
}

function tokenHtml(token: MarkedToken, isInLink: boolean): string {
  switch (token.type) {
    case "hr":
      return "<hr>";
    case "heading":
      return element(`h${Math.min(6, token.depth + HEADING_OFFSET)}`, inline(token.tokens));
    case "paragraph":
      return element("p", inline(token.tokens));
    case "blockquote":
      return element("blockquote", blocks(token.tokens));
    case "code":
      return codeHtml(token);
    case "list":
      return listHtml(token);
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "table":
      return tableHtml(token);
    case "html":
      return token.block ? element("p", textHtml(token.text.trim())) : textHtml(token.text);
    case "strong":
    case "em":
    case "del":
      return element(token.type, inline(token.tokens, isInLink));
    case "codespan":
      return element("code", escapeHtml(token.text));
    case "br":
      return "<br>\n";
    case "link":
      return linkHtml(token.href, inline(token.tokens, true), isInLink);
    case "image":
      return linkHtml(token.href, textHtml(token.text), isInLink);
    case "text":
      return token.tokens ? inline(token.tokens, isInLink) : textHtml(token.text);
    case "escape":
      return escapeHtml(token.text);
    case "def":
      return element("p", textHtml(token.raw.trim()));
    default:
      return "";
  }
}

function element(name: string, html: string): string {
  return `<${name}>${html}</${name}>`;
}

function textHtml(text: string): string {
  return escapeHtml(text).replace(ENTITY, "&$1;").replaceAll("\n", "<br>\n");
}

function codeHtml({ lang = "", text }: Tokens.Code): string {
  const language = lang.split(/\s/, 1)[0]?.slice(0, 40);
  const label = language ? element("small", escapeHtml(language)) : "";
  return element("figure", label + element("pre", element("code", escapeHtml(text))));
}

function listHtml({ ordered, start, items }: Tokens.List): string {
  const rows = items.map(({ task, tokens }) => {
    const boxes = tokens.findIndex(({ type }) => type !== "checkbox");
    const html = inline(tokens.slice(0, boxes)) + blocks(tokens.slice(boxes));
    return `<li${task ? ' class="task"' : ""}>${html}</li>`;
  });
  const attribute = ordered && start !== 1 ? ` start="${start}"` : "";
  const name = ordered ? "ol" : "ul";
  return `<${name}${attribute}>${rows.join("")}</${name}>`;
}

function tableHtml({ header, rows }: Tokens.Table): string {
  const rowHtml = (name: string, cells: readonly Tokens.TableCell[]) => {
    const html = cells.map(({ align, tokens }) => {
      const place = align === "center" || align === "right" ? ` class="${align}"` : "";
      return `<${name}${place}>${inline(tokens)}</${name}>`;
    });
    return element("tr", html.join(""));
  };
  const body = rows.map((cells) => rowHtml("td", cells));
  return element(
    "table",
    element("thead", rowHtml("th", header)) + element("tbody", body.join("")),
  );
}

function linkHtml(href: string, label: string, isInLink: boolean): string {
  const shown = label || escapeHtml(href);
  if (isInLink || !SAFE.test(href)) return shown;
  // Without a target: a shared page is sandboxed and opens no windows.
  return `<a href="${escapeHtml(href)}" rel="noreferrer noopener">${shown}</a>`;
}
