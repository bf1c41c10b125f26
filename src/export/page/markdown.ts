/**
 * A session as a Markdown document. Messages are Markdown already; tool traffic goes into fences.
 */

import type { ExportFormat } from "../format.ts";
import { aboutSession, type PagePart, toPageEntry } from "./page-entry.ts";

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
