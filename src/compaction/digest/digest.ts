/**
 * The digest: folds entries into the structure of a summary, without keeping the entries.
 *
 * It extracts the fields of claw-code's summary, and the ledger. The structure is its whole state:
 * continuing from a stored one equals processing all entries at once, as long as no tool call is
 * split from its result. So repeated compactions lose only items beyond the bounds.
 *
 * The largest structure within the bounds has some 600,000 characters.
 */

import { type Block, inputTextOf, type ToolResultBlock } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import type { CitedText, SummaryStructure } from "../summary.ts";
import {
  finishLedger,
  joinLedgers,
  type LedgerDraft,
  openToolName,
  recordCall,
  recordResult,
  startLedger,
} from "./ledger.ts";
import {
  addLine,
  cutText,
  joinFolds,
  joinTimelines,
  lineOf,
  oneLine,
  startTimeline,
  type Timeline,
} from "./timeline.ts";

/** claw-code's numbers: three requests, three lines of pending work, eight files. */
const MAX_CITED = 3;
const CITED_CHARACTERS = 160;
const CURRENT_WORK_CHARACTERS = 200;
const MAX_KEY_FILES = 8;
/** Our own bounds; an agent has some tens of tools. */
const MAX_TOOLS = 100;
const TOOL_NAME_CHARACTERS = 80;

/** Words of pending work. They match inside words too: "nextjs" contains "next". */
const PENDING_WORDS = ["todo", "next", "pending", "follow up", "remaining"];

/** The fields that a digest reads, common to stored and imported entries. */
export type DigestedEntry = Pick<Entry, "id" | "kind" | "role" | "blocks"> &
  Partial<Pick<Entry, "actor">>;

/** A digest under way: an accumulator that `addEntry` changes. */
export interface Digest {
  readonly scope: { messages: number; user: number; assistant: number; tool: number };
  readonly tools: string[];
  readonly requests: CitedText[];
  readonly pending: CitedText[];
  readonly keyFiles: string[];
  currentWork: CitedText | null;
  readonly timeline: Timeline;
  readonly ledger: LedgerDraft;
}

/** Starts from an earlier summary's structure, or empty. */
export function startDigest(previous: SummaryStructure | null): Digest {
  return {
    scope: { messages: 0, user: 0, assistant: 0, tool: 0, ...previous?.scope },
    tools: [...(previous?.tools ?? [])],
    requests: [...(previous?.requests ?? [])],
    pending: [...(previous?.pending ?? [])],
    keyFiles: [...(previous?.keyFiles ?? [])],
    currentWork: previous?.currentWork ?? null,
    timeline: startTimeline(previous?.folded ?? [], previous?.timeline ?? []),
    ledger: startLedger(previous?.ledger ?? null),
  };
}

/**
 * Adds the next entry. Messages count in full; injected messages and branch summaries count and
 * have a line, but are no requests. Other kinds are skipped.
 */
export function addEntry(digest: Digest, entry: DigestedEntry): void {
  const role = roleOf(entry);
  if (role === null) return;
  digest.scope.messages++;
  if (role === "user" || role === "assistant" || role === "tool") digest.scope[role]++;

  // The line comes first: it names tools by calls that this entry's results are about to close.
  const text = lineOf(entry.blocks, (result) => toolNameOf(digest, result));
  const { actor } = entry;
  addLine(digest.timeline, { role, ...(actor && { actor }), text, entryId: entry.id });
  for (const block of entry.blocks) addBlock(digest, entry.id, block);
  if (entry.kind === "message") addSaid(digest, entry, role);
}

export function finishDigest(digest: Digest): SummaryStructure {
  return {
    version: 1,
    scope: { ...digest.scope },
    tools: [...digest.tools],
    requests: [...digest.requests],
    pending: [...digest.pending],
    keyFiles: [...digest.keyFiles],
    currentWork: digest.currentWork,
    folded: [...digest.timeline.folded],
    timeline: [...digest.timeline.lines],
    ledger: finishLedger(digest.ledger),
  };
}

/** The role on the timeline; null if the entry has no line. */
function roleOf({ kind, role, blocks }: DigestedEntry): string | null {
  if (kind === "custom_message") return "note";
  if (kind === "branch_summary") return "branch";
  if (kind !== "message") return null;
  // Some providers send tool results as the user's message.
  const isTool = blocks.length > 0 && blocks.every(({ type }) => type === "tool_result");
  return isTool ? "tool" : (role ?? "system");
}

function addBlock(digest: Digest, entryId: string, block: Block): void {
  const found = (path: string) => addSorted(digest.keyFiles, path, MAX_KEY_FILES);
  switch (block.type) {
    case "text":
    case "thinking":
      findFiles(block.text, found);
      return;
    case "tool_use":
      findFiles(inputTextOf(block), found);
      addTool(digest, block.name);
      recordCall(digest.ledger, entryId, block);
      return;
    case "tool_result": {
      const texts = typeof block.output === "string" ? [block.output] : block.output.map(textIn);
      for (const text of texts) findFiles(text, found);
      if (block.toolName !== undefined) addTool(digest, block.toolName);
      recordResult(digest.ledger, block);
      return;
    }
    case "image":
    case "opaque":
      return;
  }
}

/** The first non-blank text of a message. */
function addSaid(digest: Digest, { id, blocks }: DigestedEntry, role: string): void {
  const first = blocks.find((block) => block.type === "text" && block.text.trim() !== "");
  if (first?.type !== "text") return;
  const cited: CitedText = { text: oneLine(first.text, CITED_CHARACTERS), entryId: id };
  if (role === "user") addNewest(digest.requests, cited);
  const lowered = first.text.toLowerCase();
  if (PENDING_WORDS.some((word) => lowered.includes(word))) addNewest(digest.pending, cited);
  digest.currentWork = { text: oneLine(first.text, CURRENT_WORK_CHARACTERS), entryId: id };
}

function addTool(digest: Digest, name: string): void {
  if (name.trim() !== "") addSorted(digest.tools, cutText(name, TOOL_NAME_CHARACTERS), MAX_TOOLS);
}

function addNewest(list: CitedText[], cited: CitedText): void {
  list.push(cited);
  if (list.length > MAX_CITED) list.shift();
}

function toolNameOf(digest: Digest, result: ToolResultBlock): string {
  return result.toolName ?? openToolName(digest.ledger, result.toolUseId) ?? "tool";
}

function textIn(block: Block): string {
  return block.type === "text" ? block.text : "";
}

/** The bounds of each list: see `digest.ts`. */
const LIMITS = { cited: 3, keyFiles: 8, tools: 100 } as const;

/** `later` covers the entries after `earlier`. The result has the same bounds. */
export function mergeStructures(
  earlier: SummaryStructure,
  later: SummaryStructure,
): SummaryStructure {
  const sum = (key: keyof SummaryStructure["scope"]) => earlier.scope[key] + later.scope[key];
  const newest = <Item>(key: (structure: SummaryStructure) => readonly Item[]) =>
    [...key(earlier), ...key(later)].slice(-LIMITS.cited);
  return {
    version: 1,
    scope: {
      messages: sum("messages"),
      user: sum("user"),
      assistant: sum("assistant"),
      tool: sum("tool"),
    },
    tools: sorted(earlier.tools, later.tools, LIMITS.tools),
    requests: newest(({ requests }) => requests),
    pending: newest(({ pending }) => pending),
    keyFiles: sorted(earlier.keyFiles, later.keyFiles, LIMITS.keyFiles),
    currentWork: later.currentWork ?? earlier.currentWork,
    ...joinTimelines(earlier, later),
    ledger: joinLedgers(earlier.ledger, later.ledger),
  };
}

function sorted(a: readonly string[], b: readonly string[], max: number): string[] {
  const all = [...a];
  for (const value of b) addSorted(all, value, max);
  return all;
}

// Files mentioned in a conversation, by claw-code's rule: words with a slash and one of six
// extensions. The list is sorted and then cut, so it does not rank them.

const EXTENSIONS = new Set(["rs", "ts", "tsx", "js", "json", "md"]);

/** Punctuation around a path in prose. */
const TRIMMED = ",.:;)(\"'`";

/** Longer words are data, not paths. */
const MAX_PATH_LENGTH = 512;

/** Calls `found` with each path in `text`. */
function findFiles(text: string, found: (path: string) => void): void {
  if (!text.includes("/")) return;
  for (const [word] of text.matchAll(/\S+/g)) {
    if (!word.includes("/") || word.length > MAX_PATH_LENGTH) continue;
    const path = trim(word);
    if (path.includes("/") && hasKnownExtension(path)) found(path.toWellFormed());
  }
}

/** Inserts `value` into a sorted list of distinct values, cut to `max`. */
function addSorted(list: string[], value: string, max: number): void {
  let i = list.length;
  while (i > 0 && (list[i - 1] as string) >= value) i--;
  if (list[i] === value || i >= max) return;
  list.splice(i, 0, value);
  if (list.length > max) list.pop();
}

function trim(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && TRIMMED.includes(word[start] as string)) start++;
  while (end > start && TRIMMED.includes(word[end - 1] as string)) end--;
  return word.slice(start, end);
}

function hasKnownExtension(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 && EXTENSIONS.has(name.slice(dot + 1).toLowerCase());
}

/**
 * A structure without quoted text, for sessions whose retention erases it.
 *
 * Requests, open work, commands and the timeline quote covered messages. Counts, entry ranges,
 * tools and files remain.
 */
export function dropQuotes(structure: SummaryStructure): SummaryStructure {
  const { folded, timeline, ledger } = structure;
  return {
    ...structure,
    requests: [],
    pending: [],
    currentWork: null,
    folded: joinFolds(folded, timeline),
    timeline: [],
    ledger: {
      ...ledger,
      commands: [],
      earlierCommands: ledger.earlierCommands + ledger.commands.length,
    },
  };
}
