/**
 * Prints a session's heading, from its fields alone, and its entries: actor, time, and the first
 * lines.
 */

import { telling } from "../api/text/tool-call.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { type Block, inputTextOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { totalTokens } from "../model/prices.ts";
import type { Session } from "../model/session.ts";
import { filtersOf } from "../model/session-filters.ts";
import type { Context } from "./context.ts";
import { counted, formatBytes, formatCount, formatTime } from "./print.ts";
import { commandLine } from "./program.ts";
import type { Terminal } from "./terminal.ts";
import { clean, clip, oneLine, widthOf } from "./text.ts";

const MAX_COLUMNS = 400;

export function formatSession(session: Session, terminal: Terminal, mark = ""): string {
  const { origin, tokens } = session;
  const rows: [string, string][] = [
    ["id", session.id],
    ["agent", session.agent],
    ["owner", session.owner],
    ["participants", session.participants.join(", ")],
    ["messages", `${formatCount(session.messageCount)} (${counted(session.entryCount, "entry")})`],
    ["started", formatTime(session.startedAt)],
    ["last input", formatTime(session.lastInteractionAt)],
    [session.forkPoint === null ? "started by" : "forked from", session.parentSessionId ?? ""],
    ["source", [origin.source, origin.projectPath, origin.gitBranch].filter(Boolean).join(" · ")],
    ["expires", session.ttl === null ? "" : `${session.ttl} s after the last write`],
    ["retention", session.retention === "full" ? "" : session.retention],
    [
      "tokens",
      totalTokens(tokens) === 0
        ? ""
        : [
            `${formatCount(tokens.inputTokens)} in`,
            `${formatCount(tokens.outputTokens)} out`,
            `${formatCount(tokens.cacheCreationTokens)} cache written`,
            `${formatCount(tokens.cacheReadTokens)} cache read`,
          ].join(", "),
    ],
    ["summary", session.summary ?? ""],
    ["marked", mark],
  ];
  // A summary may have a page.
  const columns = Math.min(terminal.columns, MAX_COLUMNS);
  const room = columns - 16;
  const titleRoom = columns - session.shortId.length - 2;
  const title = session.title === "" ? "" : `  ${clip(oneLine(session.title), titleRoom)}`;
  return [
    `${terminal.bold(session.shortId)}${title}`,
    ...rows
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `  ${terminal.dim(name.padEnd(12))}  ${clip(oneLine(value), room)}`),
  ].join("\n");
}

/**
 * Says that no session matches, what its filters may have meant, and how to fill an empty store.
 *
 * `filters`: fields of other kinds are left out.
 */
export async function printNoSessions(
  context: Context,
  tenant: TenantApi,
  filters: object = {},
  words: string = "No sessions.",
): Promise<void> {
  const { terminal } = context;
  await terminal.print(words);
  for (const note of await nearMisses(tenant, filters)) terminal.note(note);
  if (((await tenant.tenantStatus())?.sessions ?? 0) > 0) return;
  await terminal.print(`The store is empty. To fill it: ${commandLine(context, "ingest")}`);
}

/** A sentence for each filter whose value no session has; a call without sessions may have others as the cause. */
export async function nearMisses(tenant: TenantApi, filters: object): Promise<readonly string[]> {
  const names = filtersOf("list").map(([name]) => name as string);
  const given = Object.entries(filters).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  if (given.length === 0) return [];
  return (await tenant.listSessions({ ...Object.fromEntries(given), limit: 1 })).notes ?? [];
}

/** The lines and characters of an entry shown by default. */
const PREVIEW_LINES = 8;
const PREVIEW_COLUMNS = 400;
const FOLDED_COLUMNS = 120;
const TREE_COLUMNS = 60;

export interface EntryStyle {
  /** Shows everything instead of the first lines. */
  readonly full: boolean;
  /** Prints tool inputs and outputs instead of a line each. */
  readonly tools?: boolean;
  /** Labels of entries, by id. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Notes of the marks on entries, by id. */
  readonly marks?: ReadonlyMap<string | null, string>;
  readonly leaf?: string | null;
}

/** A heading and the indented text. */
export function formatEntry(entry: Entry, terminal: Terminal, style: EntryStyle): string[] {
  const folds = style.tools === false;
  const body = formatText(textOf(entry, folds), terminal, style.full);
  const isWhole = style.full || body.length <= PREVIEW_LINES;
  const cut = entry.truncated && isWhole ? [terminal.dim("    … cut; --full shows all")] : [];
  return [...flow(headingOf(entry, terminal, style), terminal.columns), ...body, ...cut];
}

/** Blocks of a context, indented. */
export function formatBlocks(
  blocks: readonly Block[],
  terminal: Terminal,
  full: boolean,
): string[] {
  return formatText(blocks.map(blockText).join("\n"), terminal, full);
}

/** An entry in `--tree`: one line, or on a narrow terminal two. */
export function formatTreeLines(
  entry: Entry,
  terminal: Terminal,
  style: EntryStyle,
  columns: number,
): string[] {
  const text = clip(oneLine(textOf(entry)), Math.min(TREE_COLUMNS, columns - INDENT.length));
  const heading = headingOf(entry, terminal, style);
  return flow(text === "" ? heading : [...heading, { shown: text, width: widthOf(text) }], columns);
}

const INDENT = "    ";
const GAP = "  ";

/** A text with its escape sequences, and the columns that it takes. */
interface Part {
  readonly shown: string;
  readonly width: number;
}

/** Joins parts; one that does not fit begins an indented line. */
function flow(parts: readonly Part[], columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const { shown, width } of parts) {
    if (used > 0 && used + GAP.length + width > columns) {
      lines.push(line);
      line = INDENT + shown;
      used = INDENT.length + width;
    } else {
      line += used > 0 ? GAP + shown : shown;
      used += width + (used > 0 ? GAP.length : 0);
    }
  }
  return [...lines, line];
}

/** Actor, time and id; and the marks. */
function headingOf(entry: Entry, terminal: Terminal, style: EntryStyle): Part[] {
  const label = style.labels?.get(entry.id);
  const mark = style.marks?.get(entry.id);
  const marks = [
    ...(entry.status === "committed" ? [] : [entry.status]),
    ...(entry.erased ? ["erased"] : []),
    ...(entry.pinned ? ["pinned"] : []),
    ...(entry.supersededBy === null ? [] : ["superseded"]),
    ...(label === undefined ? [] : [`label "${oneLine(label)}"`]),
    ...(mark === undefined ? [] : [oneLine(mark)]),
    ...(entry.id === style.leaf ? ["active leaf"] : []),
  ];
  const who = [entry.role ?? entry.kind, ...(entry.actor === null ? [] : [oneLine(entry.actor)])];
  const index = entry.index === null ? "" : `#${entry.index}${GAP}`;
  const author = who.join(" · ");
  const time = formatTime(entry.createdAt);
  const place = [terminal.bold(author), terminal.dim(time), terminal.dim(entry.id)];
  const marked = marks.length === 0 ? "" : `[${marks.join(", ")}]`;
  return [
    {
      shown: index + place.join(GAP),
      width: widthOf(index + [author, time, entry.id].join(GAP)),
    },
    ...(marked === "" ? [] : [{ shown: marked, width: widthOf(marked) }]),
  ];
}

/** Indented; the first lines and the number of the rest, unless everything is requested. */
function formatText(raw: string, terminal: Terminal, full: boolean): string[] {
  const text = clean(raw)
    .trimEnd()
    .replace(/^(?:[ \t]*\n)+/, "");
  if (text === "") return [];
  const all = text.split("\n");
  const columns = Math.min(terminal.columns - 4, PREVIEW_COLUMNS);
  const shown = full ? all : all.slice(0, PREVIEW_LINES).map((line) => clip(line, columns));
  const hidden = all.length - shown.length;
  return [
    ...shown.map((line) => `    ${line}`.trimEnd()),
    ...(hidden > 0 ? [terminal.dim(`    … ${hidden} more lines; --full shows all`)] : []),
  ];
}

function textOf(entry: Entry, folds = false): string {
  const toText = folds ? foldedText : blockText;
  if (entry.blocks.length > 0) return entry.blocks.map(toText).join("\n");
  return entry.data === null ? "" : JSON.stringify(entry.data);
}

/** A call with its main argument, and its result, on a line each. */
function foldedText(block: Block): string {
  const text = blockText(block);
  if (block.type === "tool_use") {
    const input = inputTextOf(block);
    return clip(`[tool_use ${block.name}] ${oneLine(telling(input) ?? input)}`, FOLDED_COLUMNS);
  }
  if (block.type !== "tool_result") return text;
  const [first = "", ...rest] = text.split("\n");
  const more = rest.length === 0 ? "" : ` (${rest.length} more lines; --tools shows them)`;
  return clip(first, FOLDED_COLUMNS) + more;
}

/** Reasoning that a provider encrypts and takes back unchanged. */
function isSealed(json: string): boolean {
  return /"(?:encrypted_content|redacted_thinking|encrypted_reasoning)"/.test(json);
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.text.trim() === "" ? "[reasoning, sealed]" : `[thinking] ${block.text}`;
    case "tool_use":
      return `[tool_use ${block.name}] ${inputTextOf(block)}`;
    case "tool_result": {
      const { toolName, isError, output } = block;
      const what = ["tool_result", ...(toolName ? [toolName] : []), ...(isError ? ["error"] : [])];
      const text = typeof output === "string" ? output : output.map(blockText).join("\n");
      return `[${what.join(" ")}] ${text}`;
    }
    case "image": {
      const where = block.url ?? formatBytes(Math.floor(((block.data ?? "").length * 3) / 4));
      return `[image ${block.mediaType ?? ""}] ${where}`;
    }
    case "opaque":
      return isSealed(block.json)
        ? `[reasoning, sealed: only ${block.provider ?? "its provider"} can read it]`
        : `[${block.provider ?? "opaque"}] ${block.json}`;
  }
}
