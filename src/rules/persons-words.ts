/**
 * A message without what its author did not write: content of files, mails, channels and other
 * agents, which clients put into elements; code; terminals. Whole lines: rather too much is left out
 * than a stranger's sentence taken for the author's.
 */

/** Around typed text; only the tags are removed. */
const TYPED = /<\/?(?:command-args|user_query|userRequest)>/g;
/** Gemini CLI puts the text of named files behind this line. */
const REFERENCED = /^[ \t]{0,8}--- Content from /m;
/** In prose, `Map<string>` and a tag in backquotes are none. */
const TAG = /(?<![\w`])<(\/?)([\p{L}_][\p{L}\p{N}_.:-]*)(?=[\s>/]|$)([^<>]*)/gu;
const FENCE = /^\s*(?:[-*>] )?(`{3,}|~{3,})/;
/** An agent's answer or its tool's output, copied from a terminal. */
const TERMINAL = /^\s*[⎿⏺│]/u;

/** Whether text of files follows, to the end of the message. */
export function endsInFiles(text: string): boolean {
  return REFERENCED.test(text);
}

/**
 * The lines outside of elements (of any name; one without an end goes to the end of the text), of
 * fenced and indented code, and of terminals. In linear time.
 */
export function personsWords(text: string): string {
  const typed = text.replace(TYPED, "\n");
  const end = REFERENCED.exec(typed)?.index;
  const kept: string[] = [];
  let element: OpenElement | undefined;
  let fence: string | undefined;
  /** What a further indented line belongs to. */
  let before: "text" | "code" | "terminal" = "text";
  for (const line of typed.slice(0, end).split("\n")) {
    if (fence !== undefined) {
      if (line.trimEnd().endsWith(fence)) fence = undefined;
      continue;
    }
    const opened = element === undefined ? fenceIn(line) : undefined;
    if (opened !== undefined) {
      fence = opened || undefined;
      continue;
    }
    const wasOutside = element === undefined;
    const tags = line.includes("<") ? [...line.matchAll(TAG)] : [];
    element = elementAfter(tags, element);
    if (!wasOutside || tags.length > 0) continue;
    if (TERMINAL.test(line)) before = "terminal";
    else if (line.trim() === "") before = before === "terminal" ? before : "code";
    else if (before === "terminal" ? !/^\s/.test(line) : !/^(?: {4}|\t)/.test(line)) {
      before = "text";
    }
    if (before === "text" || line.trim() === "") kept.push(line);
  }
  return kept.join("\n");
}

/** The fence that a line leaves open; "": the line has code in itself. */
function fenceIn(line: string): string | undefined {
  const [start, marker] = FENCE.exec(line) ?? [];
  if (start !== undefined) return line.includes("```", start.length) ? "" : marker;
  const count = line.split("```").length - 1;
  if (count === 0) return undefined;
  return count % 2 === 0 ? "" : "```";
}

interface OpenElement {
  readonly name: string;
  /** Open elements of this name: one may hold another. */
  readonly depth: number;
}

/** The element that is open after a line with these tags. */
function elementAfter(
  tags: readonly RegExpExecArray[],
  open: OpenElement | undefined,
): OpenElement | undefined {
  let now = open;
  for (const [, slash = "", found = "", rest = ""] of tags) {
    const name = found.toLowerCase();
    if (rest.endsWith("/")) continue;
    if (now === undefined) now = slash === "" ? { name, depth: 1 } : undefined;
    else if (now.name === name) {
      const depth: number = now.depth + (slash === "" ? 1 : -1);
      now = depth === 0 ? undefined : { name, depth };
    }
  }
  return now;
}
