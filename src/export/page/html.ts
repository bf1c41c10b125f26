/**
 * A session as a self-contained HTML page without scripts.
 *
 * Transcript text is untrusted: all of it is escaped, and the page's Content-Security-Policy
 * forbids scripts and requests.
 */

import type { ExportFormat } from "../format.ts";
import { escapeHtml } from "./escape-html.ts";
import { aboutSession, type PageEntry, type PagePart, toPageEntry } from "./page-entry.ts";

export const HTML: ExportFormat = {
  name: "html",
  selects: "path",
  compacts: false,

  async *write(input, losses) {
    const { session } = input;
    const title = escapeHtml(session.title || "Conversation");
    const about = aboutSession(session).map(
      ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
    );
    yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<dl>${about.join("")}</dl>
`;
    // Loaded with the first export: most programs make none.
    const { renderMarkdown } = await import("./render-markdown.ts");
    for await (const entry of input.entries()) {
      const page = toPageEntry(entry, losses, true);
      if (page === undefined) continue;
      yield `<article class="${escapeHtml(page.className)}" id="${escapeHtml(page.id)}">\n`;
      yield `<h2>${escapeHtml(page.heading)} ${timeHtml(page.time)}</h2>\n`;
      for (const part of page.parts) yield `${partHtml(part, page, renderMarkdown)}\n`;
      yield "</article>\n";
    }
    yield "</body>\n</html>\n";
  },
};

const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; opacity: 0.8; }
dd { margin: 0; }
article { border-left: 4px solid #8888; padding: 0 1rem; margin: 1.5rem 0; }
article.user { border-color: #2a78d6; }
article.assistant { border-color: #2e9e5b; }
article.tool { border-color: #b7791f; }
h2 { font-size: 1rem; margin: 0 0 0.4rem; }
time { font-weight: normal; opacity: 0.6; font-size: 0.8rem; }
pre, .text { white-space: pre-wrap; tab-size: 4; }
pre { background: #8882; padding: 0.75rem; border-radius: 4px; font-size: 0.85rem; margin: 0.5rem 0; }
.markdown, .text, .thinking { margin: 0.5rem 0; }
.markdown > :first-child { margin-top: 0; }
.markdown > :last-child { margin-bottom: 0; }
.markdown :is(p, ul, ol, blockquote, table, figure) { margin: 0 0 0.75rem; }
.markdown :is(ul, ol) { padding-left: 1.6rem; }
.markdown li > :is(p, ul, ol) { margin-bottom: 0.3rem; }
.markdown .task { list-style: none; margin-left: -1.3rem; }
.markdown :is(h3, h4, h5, h6) { font-size: 1rem; line-height: 1.3; margin: 1.2rem 0 0.4rem; }
.markdown h3 { font-size: 1.25rem; }
.markdown h4 { font-size: 1.1rem; }
.markdown :is(code, figure) { background: #8882; border-radius: 4px; }
.markdown code { padding: 0.1em 0.3em; font-size: 0.85em; }
.markdown pre { background: none; margin: 0; white-space: pre; overflow-x: auto; }
.markdown pre code { background: none; padding: 0; font-size: inherit; }
.markdown figure small { display: block; padding: 0.3rem 0.75rem 0; margin-bottom: -0.4rem; opacity: 0.7; }
.markdown blockquote { border-left: 3px solid #8886; padding-left: 0.8rem; opacity: 0.85; }
.markdown table { display: block; overflow-x: auto; overflow-wrap: normal; border-collapse: collapse; }
.markdown :is(th, td) { border: 1px solid #8886; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
.markdown .center { text-align: center; }
.markdown .right { text-align: right; }
.markdown hr { border: 0; border-top: 1px solid #8886; margin: 1.2rem 0; }
.thinking, .note { opacity: 0.7; font-style: italic; white-space: pre-wrap; }
img { max-width: 100%; }
`;

/** To the minute; the attribute has all of it. */
function timeHtml(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}

function partHtml(
  part: PagePart,
  { className }: PageEntry,
  renderMarkdown: (text: string) => string,
): string {
  switch (part.type) {
    case "text":
      return isMarkdown(part.text, className)
        ? `<div class="markdown" dir="auto">${renderMarkdown(part.text)}</div>`
        : `<div class="text" dir="auto">${escapeHtml(part.text)}</div>`;
    case "thinking":
      return `<div class="thinking">${escapeHtml(part.text)}</div>`;
    case "code":
      return `<details><summary>${escapeHtml(part.title)}</summary><pre>${escapeHtml(part.text)}</pre></details>`;
    case "note":
      return `<p class="note">${escapeHtml(part.text)}</p>`;
    case "image":
      return `<img alt="" src="data:${part.mediaType};base64,${part.data}">`;
  }
}

/** Longer texts are shown as they are: the worst of this length takes the parser a second. */
const MAX_MARKDOWN = 32_768;

/** What Claude Code stores of a command that a person typed, and of its output. */
const TYPED_COMMAND = /^\s*<(?:command|bash|local-command)-[a-z]+>/;

/** Whether a text is by a person or an agent: the output of tools and commands is not Markdown. */
function isMarkdown(text: string, className: string): boolean {
  if (text.length > MAX_MARKDOWN || className === "tool") return false;
  return className !== "user" || !TYPED_COMMAND.test(text);
}
