/**
 * A session as a page for people: a self-contained HTML page without scripts, or a Markdown
 * document. Messages are Markdown already; tool traffic goes into fences.
 *
 * Transcript text is untrusted: all of it is escaped in HTML, and the page's Content-Security-
 * Policy forbids scripts and requests.
 */

import { type Block, inputTextOf } from "../model/block.ts";
import { type Entry, kindRules } from "../model/entry.ts";
import { isPlainObject } from "../model/json.ts";
import { isMarkData } from "../model/mark.ts";
import type { Session } from "../model/session.ts";
import { escapeHtml } from "./escape-html.ts";
import type { ExportFormat, LossLog } from "./format.ts";

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

export const MARKDOWN: ExportFormat = {
  name: "markdown",
  selects: "path",
  compacts: false,

  async *write(input, losses) {
    const { session } = input;
    yield `# ${oneLine(session.title || "Conversation")}\n`;
    for (const [name, value] of aboutSession(session)) yield `\n- ${name}: ${oneLine(value)}`;
    yield "\n";
    for await (const entry of input.entries()) {
      const page = toPageEntry(entry, losses, false);
      if (page === undefined) continue;
      yield `\n## ${oneLine(page.heading)}\n\n*${page.time}*\n`;
      for (const part of page.parts) yield `\n${partText(part)}\n`;
    }
  },
};

function partText(part: PagePart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "thinking":
      return part.text.replace(/^/gm, "> ");
    case "code":
      return `**${oneLine(part.title)}**\n\n${fenced(part.text)}`;
    case "note":
      return `*${oneLine(part.text)}*`;
    case "image":
      return "";
  }
}

/** A fence longer than any in the text, so that the text cannot close it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** A piece of an entry, as a page shows it. */
type PagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "code"; readonly title: string; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly data: string }
  | { readonly type: "note"; readonly text: string };

interface PageEntry {
  readonly id: string;
  /** For styling: the role, or else the kind. */
  readonly className: string;
  readonly heading: string;
  readonly time: string;
  readonly parts: readonly PagePart[];
}

/** Undefined for entries that people are not shown. */
function toPageEntry(entry: Entry, losses: LossLog, showsImages: boolean): PageEntry | undefined {
  const data = isPlainObject(entry.data) ? entry.data : {};
  const hidden = entry.kind === "custom_message" && data["display"] === false;
  if (!kindRules(entry.kind).shown || hidden) {
    losses.add(hidden ? "hidden messages" : "entries that are not shown");
    return undefined;
  }
  const marks = entry.status === "committed" ? [] : [entry.status];
  return {
    id: entry.id,
    className: entry.role ?? entry.kind,
    heading: [titleOf(entry), ...(entry.actor === null ? [] : [entry.actor]), ...marks].join(" · "),
    time: new Date(entry.createdAt).toISOString(),
    parts:
      entry.blocks.length > 0
        ? entry.blocks.flatMap((block) => toParts(block, losses, showsImages))
        : noteOf(entry, data),
  };
}

/** The lines under the title of a page; a share has neither id nor owner. */
function aboutSession(session: Session): readonly (readonly [string, string])[] {
  const { agent, owner, startedAt, updatedAt, origin } = session;
  return [
    ...(session.id === "" ? [] : [["Session", session.id] as const]),
    ["Agent", agent],
    ...(owner === "" ? [] : [["Owner", owner] as const]),
    ["Started", new Date(startedAt).toISOString()],
    ["Last message", new Date(updatedAt).toISOString()],
    ...(origin.projectPath === undefined ? [] : [["Project", origin.projectPath] as const]),
  ];
}

const TITLES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
  compaction: "Summary of what came before",
  branch_summary: "Summary of another branch",
  summary: "Summary",
  custom_message: "Added to the conversation",
  label: "Label",
  model_change: "Model",
  thinking_level_change: "Thinking level",
};

function titleOf(entry: Entry): string {
  return TITLES[entry.role ?? entry.kind] ?? entry.kind;
}

function noteOf(entry: Entry, data: Readonly<Record<string, unknown>>): PagePart[] {
  if (entry.kind === "label") {
    if (isMarkData(data)) {
      const { mark, reason = "" } = data;
      return [{ type: "note", text: mark === null ? "(no longer marked)" : `${mark}: ${reason}` }];
    }
    const { label } = data;
    return [{ type: "note", text: typeof label === "string" ? label : "(taken away)" }];
  }
  const values = Object.values(data).filter((value) => typeof value === "string");
  return values.length === 0 ? [] : [{ type: "note", text: values.join(" ") }];
}

function toParts(block: Block, losses: LossLog, showsImages: boolean): PagePart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      if (block.signature !== undefined) losses.add("signatures");
      return [{ type: "thinking", text: block.text }];
    case "tool_use":
      return [{ type: "code", title: `Calls ${block.name}`, text: inputTextOf(block) }];
    case "tool_result": {
      const { toolName, isError, output } = block;
      const title = `${isError ? "Error" : "Result"}${toolName ? ` of ${toolName}` : ""}`;
      if (typeof output === "string") return [{ type: "code", title, text: output }];
      return output.flatMap((inner) =>
        inner.type === "text"
          ? [{ type: "code" as const, title, text: inner.text }]
          : toParts(inner, losses, showsImages),
      );
    }
    case "image": {
      const { data, mediaType = "image/png", url } = block;
      if (showsImages && data !== undefined && isPicture(mediaType, data)) {
        return [{ type: "image", mediaType, data }];
      }
      losses.add("images");
      return [{ type: "note", text: url === undefined ? "(image)" : `(image: ${url})` }];
    }
    case "opaque":
      losses.add("blocks of other providers");
      return [{ type: "note", text: "(something that only its provider can read)" }];
  }
}

/** Only image types that cannot run code: an SVG may hold a script. */
function isPicture(mediaType: string, data: string): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
