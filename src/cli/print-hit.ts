/** Hits as a person reads them: the session, and what stands round the match. */

import type { SearchHit, WindowItem } from "../search/request.ts";
import { formatTime } from "./print.ts";
import type { Terminal } from "./terminal.ts";
import { clean, clip, oneLine } from "./text.ts";

/** What is shown of a message that was found, and of its neighbours. */
const FOUND_LINES = 12;
const NEAR_LINES = 2;

export function formatHit(hit: SearchHit, terminal: Terminal): string[] {
  const { title, agent, updatedAt } = hit.meta;
  const heading = [
    terminal.bold(hit.sessionId),
    ...(title === "" ? [] : [oneLine(title)]),
    terminal.dim(`${agent} · ${formatTime(updatedAt)} · score ${hit.score.toFixed(2)}`),
  ].join("  ");
  const parts = Object.entries(hit.parts ?? {}).map(([name, part]) => `${name} ${part.toFixed(3)}`);
  return [
    heading,
    ...(parts.length === 0 ? [] : [terminal.dim(`  ${parts.join(" + ")}`)]),
    ...hit.window.flatMap((item) => formatItem(item, terminal)),
  ];
}

function formatItem(item: WindowItem, terminal: Terminal): string[] {
  const who = [item.role ?? "message", ...(item.actor === null ? [] : [oneLine(item.actor)])];
  const label = `#${item.index} ${who.join(" · ")}`;
  const all = marked(item, terminal);
  const lines = all.slice(0, item.found ? FOUND_LINES : NEAR_LINES);
  const more = all.length > lines.length || item.truncated ? [terminal.dim("…")] : [];
  return [
    item.found ? `▸ ${terminal.bold(label)}` : `  ${terminal.dim(label)}`,
    ...[...lines, ...more].map((line) => `    ${line}`),
  ];
}

/** The lines of a snippet, with the matches marked. */
function marked(item: WindowItem, terminal: Terminal): string[] {
  let text = "";
  let at = 0;
  for (const { start, end } of item.matches) {
    text += clean(item.snippet.slice(at, start));
    text += terminal.mark(clean(item.snippet.slice(start, end)));
    at = end;
  }
  text += clean(item.snippet.slice(at));
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  // Colours would be cut with the line: only plain ones are.
  return lines.map((line) =>
    line.includes("\u001b") ? line : clip(line, Math.min(terminal.columns - 4, 400)),
  );
}
