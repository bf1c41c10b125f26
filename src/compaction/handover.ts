/**
 * The hand-over: details that an agent's own compaction loses, in a few kilobytes. Requests,
 * decisions, figures, files and commands, verbatim; the newest are kept first.
 *
 * Made without a model: files, commands and the state of the work come from the digest, the rest
 * are sentences of the messages.
 */

import {
  addEntry,
  type Digest,
  type DigestedEntry,
  finishDigest,
  startDigest,
} from "./digest/digest.ts";
import { cutText, oneLine } from "./digest/timeline.ts";

/** The limit of each kind while reading: many more than fit. */
const MAX_KEPT = 100;
const LINE_CHARACTERS = 240;
/** Characters read of a message. */
const MAX_TEXT_LENGTH = 20_000;

const DECIDES =
  /\b(?:decid(?:ed?|ing)|decision|agreed?|settled on|chose|chosen|going with|instead of|rather than|must|never|always|do not|don't|only ever|we(?:'ll| will) (?:use|keep|go|do))\b/i;

/**
 * A meaningful figure: with a unit, a fraction or a version, or of two or more digits. Line numbers
 * are excluded.
 */
const FIGURE =
  /(?<![\w./:,-]|\blines? )(?:v?\d+(?:[.,]\d+)+|\d+\s?(?:%|[kKMGT]i?B|ms|s|min|h|days?|tokens?|rows?|lines?|tests?|px|x)\b|[$€£]\s?\d+|\d{2,})(?![\w/-])/;

/** An accumulator that `addToHandover` changes. */
export interface Handover {
  readonly digest: Digest;
  readonly asks: string[];
  readonly decisions: string[];
  readonly figures: string[];
}

export function startHandover(): Handover {
  return { digest: startDigest(null), asks: [], decisions: [], figures: [] };
}

/** Adds the next entry. */
export function addToHandover(handover: Handover, entry: DigestedEntry): void {
  addEntry(handover.digest, entry);
  if (entry.kind !== "message" || (entry.role !== "user" && entry.role !== "assistant")) return;
  const texts = entry.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const text = texts.join("\n").slice(0, MAX_TEXT_LENGTH);
  if (entry.role === "user" && text.trim() !== "") {
    keep(handover.asks, oneLine(text.trim(), LINE_CHARACTERS));
  }
  for (const sentence of sentencesOf(text)) {
    // A request of one sentence is already among the requests.
    if (handover.asks.includes(sentence)) continue;
    if (DECIDES.test(sentence)) keep(handover.decisions, sentence);
    else if (entry.role === "assistant" && FIGURE.test(sentence)) keep(handover.figures, sentence);
  }
}

/**
 * Markdown of at most `maxBytes` of UTF-8, without a final line break; empty without content.
 * `prepare` is applied to each line before it is measured.
 */
export function renderHandover(
  handover: Handover,
  maxBytes: number,
  prepare: (line: string) => string = (line) => line,
): string {
  const { ledger, currentWork } = finishDigest(handover.digest);
  const changed = new Set(ledger.filesChanged.map(({ path }) => path));
  const sections: readonly Section[] = [
    { title: "Asked", lines: handover.asks },
    { title: "Decided", lines: handover.decisions },
    {
      title: "Files changed",
      lines: ledger.filesChanged.map(({ path }) => cutText(path, LINE_CHARACTERS)),
    },
    {
      title: "Commands run",
      lines: ledger.commands.map(
        ({ text, failed }) => `${oneLine(text, LINE_CHARACTERS)}${failed ? " (failed)" : ""}`,
      ),
    },
    { title: "Figures", lines: handover.figures },
    {
      title: "Files read",
      lines: ledger.filesRead
        .filter(({ path }) => !changed.has(path))
        .map(({ path }) => cutText(path, LINE_CHARACTERS)),
    },
    { title: "Where it stood", lines: currentWork === null ? [] : [currentWork.text] },
  ];
  return join(fill(sections, maxBytes, prepare));
}

interface Section {
  readonly title: string;
  /** Oldest first. */
  readonly lines: readonly string[];
}

/** Round-robin: takes a line of each section, the newest first, until the room is used. */
function fill(
  sections: readonly Section[],
  maxBytes: number,
  prepare: (line: string) => string,
): Section[] {
  const chosen = sections.map(({ title }) => ({ title, lines: [] as string[] }));
  const longest = Math.max(0, ...sections.map(({ lines }) => lines.length));
  let room = maxBytes;
  for (let back = 1; back <= longest; back++) {
    for (const [i, { title, lines }] of sections.entries()) {
      const target = chosen[i];
      const line = lines.at(-back);
      if (line === undefined || target === undefined) continue;
      const shown = `- ${prepare(line)}`;
      // A line break before it, and for the first of a section an empty line and a heading.
      const heading = target.lines.length === 0 ? title.length + "\n\n## ".length : 0;
      const bytes = Buffer.byteLength(shown) + 1 + heading;
      if (bytes > room) continue;
      room -= bytes;
      target.lines.unshift(shown);
    }
  }
  return chosen;
}

function join(sections: readonly Section[]): string {
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => [`## ${title}`, ...lines].join("\n"))
    .join("\n\n");
}

function sentencesOf(text: string): string[] {
  return (
    text
      .replace(/```.*?(?:```|$)/gs, "\n")
      .split(/\n+|(?<=[.!?])\s+/)
      .map((sentence) =>
        sentence
          .replace(/^(?:[\s>#]|[*+-]\s|\d{1,2}[.)]\s)+/, "")
          .replaceAll("**", "")
          .trim(),
      )
      // Excludes questions, and lines that end in a colon.
      .filter((sentence) => sentence.length >= 8 && !/[?:]$/.test(sentence))
      .map((sentence) => oneLine(sentence, LINE_CHARACTERS))
  );
}

/** Newest last; a repeated item moves to the end. */
function keep(list: string[], line: string): void {
  const known = list.indexOf(line);
  if (known >= 0) list.splice(known, 1);
  list.push(line);
  if (list.length > MAX_KEPT) list.shift();
}
