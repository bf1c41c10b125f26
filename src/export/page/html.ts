/**
 * A session as a self-contained HTML page without scripts.
 *
 * Transcript text is untrusted: all of it is escaped, and the page's Content-Security-Policy
 * forbids scripts and requests.
 */

import type { ExportFormat } from "../format.ts";
import { aboutSession, type PagePart, toPageEntry } from "./page-entry.ts";

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
    for await (const entry of input.entries()) {
      const page = toPageEntry(entry, losses, true);
      if (page === undefined) continue;
      yield `<article class="${escapeHtml(page.className)}" id="${escapeHtml(page.id)}">\n`;
      yield `<h2>${escapeHtml(page.heading)} ${timeHtml(page.time)}</h2>\n`;
      for (const part of page.parts) yield `${partHtml(part)}\n`;
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
.thinking, .note { opacity: 0.7; font-style: italic; white-space: pre-wrap; }
img { max-width: 100%; }
`;

/** To the minute; the attribute has all of it. */
function timeHtml(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}

function partHtml(part: PagePart): string {
  switch (part.type) {
    case "text":
      return `<div class="text">${escapeHtml(part.text)}</div>`;
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

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
