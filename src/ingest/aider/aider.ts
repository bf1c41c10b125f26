/**
 * Chat histories of Aider: Markdown in the project's folder, each start of the program a session.
 *
 * `####` is the user's text, `>` the program's output, everything else the model's answer. There
 * are no ids, and no times except that of the start, in the machine's time zone.
 */

import type { Block } from "../../model/block.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { KEPT_IDS } from "../batches.ts";
import { toImportedEntry, toImportedSession } from "../drafts.ts";
import { textOfHead } from "../head.ts";
import type { Line } from "../lines.ts";
import { LongText } from "../long/long-text.ts";
import { fileName, folderOf } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "aider";
const HISTORY = ".aider.chat.history.md";
const START = /^# aider chat started at ([\s\S]*)/;

export const AIDER: TranscriptSource = {
  name: FORMAT,

  /** Histories lie in projects, which may be anywhere: only a named one is found. */
  places(environment) {
    const named = folderOf(environment, "AIDER_CHAT_HISTORY_FILE", "");
    return named === "" ? [] : [{ root: named, matches: () => true }];
  },

  recognise(head) {
    const text = textOfHead(head);
    return /^\s*# aider chat started at /.test(text);
  },

  isText: () => true,

  read(input) {
    const problems = new ProblemLog();
    return { sessions: readRuns(input, problems), problems };
  },

  resumeCommand: () => "aider --restore-chat-history",
};

async function* readRuns(
  { lines, path }: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const source = lines[Symbol.asyncIterator]();
  const starts = new RecentMap<string, number>(KEPT_IDS);
  let start: string | undefined;
  /** The lines of a run, up to the start of the next. */
  async function* body(): AsyncGenerator<Line> {
    start = undefined;
    for (let next = await source.next(); !next.done; next = await source.next()) {
      tellDamage(next.value, problems);
      start = START.exec(next.value.text)?.[1]?.trim();
      if (start !== undefined) return;
      yield next.value;
    }
  }
  for await (const { text } of body()) {
    if (text.trim() !== "")
      problems.add("missing_header", "text before the first start was left out");
  }
  while (start !== undefined) {
    const count = (starts.get(start) ?? 0) + 1;
    starts.set(start, count);
    const rest = body();
    yield { ...toSession(start, count, path), entries: readEntries(rest, problems), problems };
    // Skip unread lines.
    for await (const _ of rest);
  }
}

function toSession(
  start: string,
  count: number,
  path: string,
): Omit<ImportedSession, "entries" | "problems"> {
  const folder = path.slice(0, Math.max(0, path.length - fileName(path).length - 1));
  // Two projects may start in the same second.
  const place = toHex(sha256(Buffer.from(folder))).slice(0, 8);
  const digits = start.replace(/\D/g, "") || "unknown";
  const startedAt = Date.parse(start.replace(" ", "T"));
  return toImportedSession(FORMAT, {
    id: `${digits}-${place}${count === 1 ? "" : `-${count}`}`,
    cwd: fileName(path) === HISTORY && folder !== "" ? folder : null,
    startedAt: Number.isNaN(startedAt) ? null : startedAt,
  });
}

type Channel = "user" | "assistant" | "output";

async function* readEntries(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const body = new LongText(problems);
  let channel: Channel | undefined;
  let number = 0;
  let model: string | null = null;
  /** Aider ends each line of the user with two spaces, unlike a heading. */
  let isStrict: boolean | undefined;
  const flush = (): ImportedEntry | undefined => {
    const text = body.take();
    if (channel === undefined || text === "") return undefined;
    if (channel === "output") model = /^(?:Main model|Model):? (\S+)/m.exec(text)?.[1] ?? model;
    return toEntry(channel, text, `message-${number++}`, model);
  };
  for await (const { text: line, number: lineNumber } of lines) {
    if (/^####( |$)/.test(line)) isStrict ??= line.endsWith("  ");
    const found = channelOf(line, isStrict === true);
    // An empty line belongs to the block around it.
    const next = found ?? (line.trim() === "" ? channel : "assistant");
    if (next !== channel) {
      const entry = flush();
      if (entry !== undefined) yield entry;
      channel = next;
    }
    const said = found === undefined ? line : line.replace(/^(####|>) ?/, "").replace(/ {2}$/, "");
    body.add(said, lineNumber);
  }
  const entry = flush();
  if (entry !== undefined) yield entry;
}

function channelOf(line: string, isStrict: boolean): Channel | undefined {
  if ((isStrict ? /^####( .*)? {2}$/ : /^####( |$)/).test(line)) return "user";
  return /^>( |$)/.test(line) ? "output" : undefined;
}

function toEntry(
  channel: Channel,
  text: string,
  sourceId: string,
  model: string | null,
): ImportedEntry {
  const blocks: Block[] = [{ type: "text", text }];
  const base = { sourceId, id: null, blocks };
  if (channel === "output") {
    return toImportedEntry(FORMAT, { ...base, kind: "custom", data: { type: "aider:output" } });
  }
  const isUser = channel === "user";
  return toImportedEntry(FORMAT, {
    ...base,
    kind: "message",
    role: isUser ? "user" : "assistant",
    actor: isUser ? null : FORMAT,
    model: isUser ? null : model,
  });
}

function tellDamage({ damage, number }: Line, problems: ProblemLog): void {
  if (damage === "too_long") problems.add("line_too_long", "the line was left out", number);
  if (damage === "not_utf8") {
    problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
  }
}
