/**
 * Conversations of Cursor: transcripts of its agent (JSON lines, earlier plain text), and the database
 * of the editor.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { KEPT_CALLS } from "../batches.ts";
import { toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, nameOf, objectField, otherFields, resultBlock } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { ResumedLines, readRecords } from "../jsonl.ts";
import type { Line } from "../lines.ts";
import { LongText } from "../long/long-text.ts";
import { applicationFolder, commandFor, fileName, folderName, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { databaseText, withDatabase } from "../sqlite-file.ts";
import { type ComposersEnd, FORMAT, readComposers, unwrapQuery } from "./cursor-composers.ts";

export const CURSOR: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    return [
      {
        root: joinPath(environment.home, ".cursor/projects"),
        matches: (path) => /^[^/]+\/agent-transcripts\/.+\.(jsonl|txt)$/.test(path),
        skips: (path) => /^[^/]+\/(?!agent-transcripts(\/|$))/.test(path),
      },
    ];
  },

  recognise(head, path) {
    const first = firstRecord(head);
    if (first !== undefined) return isMessage(first);
    const text = textOfHead(head);
    if (/^\s*\{"role":"(user|assistant)","message":\{"content":/.test(text)) return true;
    const isText = /^\s*(user|assistant):[ \t]*\r?\n/.test(text);
    return isText && (path.endsWith(".txt") || /<user_query>|^\[Tool call\] /m.test(text));
  },

  isText: (path) => path.endsWith(".txt"),

  read(input) {
    const problems = new ProblemLog();
    return fileName(input.path).endsWith(".txt")
      ? { sessions: readText(input.lines, describe(input), problems), problems }
      : readLines(input, problems);
  },

  resumeCommand: ({ id }) => commandFor("cursor-agent --resume=", id),
};

/** The editor's database: its panel's conversations. */
export const CURSOR_EDITOR: TranscriptSource = {
  name: `${FORMAT}-editor`,
  container: "database",

  places(environment) {
    const user = joinPath(applicationFolder(environment), "Cursor/User");
    const matches = (path: string) =>
      /^(globalStorage|workspaceStorage\/[^/]+)\/state\.vscdb$/.test(path);
    const skips = (path: string) => !/^(globalStorage|workspaceStorage(\/[^/]+)?)$/.test(path);
    return [{ root: user, matches, skips }];
  },

  recognise(head) {
    return databaseText(head)?.includes("cursorDiskKV") === true;
  },

  read(input) {
    const problems = new ProblemLog();
    let end: ComposersEnd = { state: input.resume, isPostponed: true };
    const sessions = withDatabase(input.path, problems, async function* (database) {
      end = yield* readComposers(database, input.resume, problems);
    });
    const asked = { state: () => end.state, isPostponed: () => end.isPostponed };
    return { sessions, problems, ...asked };
  },
};

function isMessage(record: Fields): boolean {
  const { role, message } = record;
  return (
    (role === "user" || role === "assistant") &&
    isPlainObject(message) &&
    (Array.isArray(message["content"]) || typeof message["content"] === "string")
  );
}

/** The session's fields from its path: file name and project folder. */
function describe({ path }: SourceInput): Omit<ImportedSession, "entries" | "problems"> {
  const id = fileName(path).replace(/\.(jsonl|txt)$/, "");
  const parent = folderName(path) === "subagents" ? folderName(path, 2) : null;
  const names = path.split(/[/\\]/);
  const project = names[names.indexOf("agent-transcripts") - 1];
  const own = id === "" ? null : id;
  return toImportedSession(FORMAT, {
    id: parent === null ? own : `${parent}/agent-${own}`,
    parentSession: parent,
    fields: project === undefined ? {} : { project },
  });
}

function readLines(input: SourceInput, problems: ProblemLog): ImportedTranscript {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  const kept = input.resume?.["names"];
  for (const pair of Array.isArray(kept) ? (kept as unknown[]) : []) {
    if (Array.isArray(pair)) names.set(nameOf(pair[0]), nameOf(pair[1]));
  }
  const lines = new ResumedLines(() => ({
    names: [...names].slice(-100) as unknown as JsonValue,
  }));
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const records = readRecords(lines.read(input.lines), problems);
    const { value: first, done } = await records.next();
    if (done) return;
    async function* entries(): AsyncGenerator<ImportedEntry> {
      if (first !== undefined) yield* toEntries(first.record, first.line, names, problems);
      for await (const { record, line } of records) yield* toEntries(record, line, names, problems);
    }
    yield { ...describe(input), entries: entries(), problems };
  }
  return { sessions: sessions(), problems, state: () => lines.state() };
}

function* toEntries(
  record: Fields,
  line: number,
  names: RecentMap<string, string>,
  problems: ProblemLog,
): Generator<ImportedEntry> {
  const sourceId = `line-${line}`;
  const message = objectField(record, "message");
  const content = toContentBlocks(message["content"], FORMAT);
  if (!isMessage(record) || content === undefined) {
    const what = JSON.stringify(record["type"] ?? record["role"] ?? null);
    problems.add("unexpected", `a line of ${what} was kept as custom data`, line);
    const data = { type: `${FORMAT}:line`, data: otherFields(record, []) };
    yield toImportedEntry(FORMAT, { sourceId, id: null, kind: "custom", data });
    return;
  }
  const isUser = record["role"] === "user";
  const { blocks, context } = isUser ? unwrapQuery(content) : { blocks: content, context: "" };
  const numbered = blocks.map((block, i) =>
    block.type === "tool_use" && block.id === "" ? { ...block, id: `${sourceId}-${i}` } : block,
  );
  const rest = otherFields(record, ["role", "message"]);
  const inner = otherFields(message, ["content", "role"]);
  const drafts = toMessageDrafts(
    {
      sourceId,
      id: null,
      kind: "message",
      role: isUser ? "user" : "assistant",
      actor: isUser ? null : FORMAT,
      blocks: numbered,
      fields: {
        ...rest,
        ...(Object.keys(inner).length === 0 ? {} : { message: inner }),
        ...(context === "" ? {} : { context }),
      },
    },
    names,
  );
  for (const draft of drafts) yield toImportedEntry(FORMAT, draft);
}

/** Transcripts of Cursor as plain text: `user:` and `assistant:` on separate lines. */
async function* readText(
  lines: AsyncIterable<Line>,
  session: Omit<ImportedSession, "entries" | "problems">,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  yield { ...session, entries: readEntries(lines, problems), problems };
}

async function* readEntries(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  let message: Message | undefined;
  let messages = 0;
  for await (const { text, damage, number: line } of lines) {
    if (damage === "too_long") problems.add("line_too_long", "the line was left out", line);
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", line);
    }
    const [, role] = /^(user|assistant):\s*$/.exec(text) ?? [];
    if (role !== undefined) {
      if (message !== undefined) yield* message.end();
      const id = `message-${messages++}`;
      const body = role === "user" ? new Prompt(problems) : new CursorAnswer(id, problems);
      message = new Message(id, body, role as "user" | "assistant", names);
    } else if (message !== undefined) yield* message.add(text, line);
    else if (text.trim() !== "") {
      problems.add("unexpected", "text before the first message was left out", line);
    }
  }
  if (message !== undefined) yield* message.end();
}

/** A section under one heading. */
class Message {
  readonly #id: string;
  readonly #body: Prompt | CursorAnswer;
  readonly #role: "user" | "assistant";
  /** Tool names by call. */
  readonly #names: RecentMap<string, string>;
  #given = 0;

  constructor(
    id: string,
    body: Prompt | CursorAnswer,
    role: "user" | "assistant",
    names: RecentMap<string, string>,
  ) {
    this.#id = id;
    this.#body = body;
    this.#role = role;
    this.#names = names;
  }

  /** Gives the completed entries. */
  *add(text: string, line: number): Generator<ImportedEntry> {
    const said = this.#body.add(text, line);
    if (said !== undefined) yield* this.#give(said);
  }

  *end(): Generator<ImportedEntry> {
    for (const said of this.#body.end()) yield* this.#give(said);
  }

  *#give({ blocks, fields, isResult }: Said): Generator<ImportedEntry> {
    const number = this.#given++;
    const sourceId = number === 0 ? this.#id : `${this.#id}.${number}`;
    const role = isResult ? "tool" : this.#role;
    const actor = role === "assistant" ? FORMAT : null;
    const draft = { sourceId, id: null, kind: "message", role, actor, blocks, fields } as const;
    for (const part of toMessageDrafts(draft, this.#names)) yield toImportedEntry(FORMAT, part);
  }
}

/** A message of the user. */
class Prompt {
  readonly #text: LongText;

  constructor(problems: ProblemLog) {
    this.#text = new LongText(problems);
  }

  add(line: string, number: number): undefined {
    this.#text.add(line, number);
  }

  *end(): Generator<Said> {
    const text = this.#text.take();
    if (text === "") return;
    const { blocks, context } = unwrapQuery([{ type: "text", text }]);
    yield { blocks, fields: context === "" ? {} : { context }, isResult: false };
  }
}

// An answer in a text of Cursor, line by line: `[Thinking]`, `[Tool call] name` and `[Tool result]
// name`, each with its indented body, and text between them.
//
// An answer can hold hours of work. It is given in parts, split at results, with one part in
// memory.

/** One entry's content. */
interface Said {
  readonly blocks: Block[];
  readonly fields: { readonly context?: string };
  readonly isResult: boolean;
}

/** Open calls, among which each result is searched. */
const OPEN_CALLS = 1000;

/** Estimated length of a block beside its text. */
const BLOCK_LENGTH = 100;

const MARK = /^\[(Thinking|Tool call|Tool result)\]\s*(.*?)\s*$/;

class CursorAnswer {
  readonly #id: string;
  readonly #text: LongText;
  /** The current marker; empty between markers. */
  #piece: { readonly mark: string; readonly name: string } | undefined;
  #said: Said | undefined;
  #length = 0;
  #calls = 0;
  readonly #open = new RecentMap<string, string>(OPEN_CALLS);

  /** `id` is the prefix of its calls' ids. */
  constructor(id: string, problems: ProblemLog) {
    this.#id = id;
    this.#text = new LongText(problems);
  }

  /** Takes a line and gives the completed parts. */
  add(line: string, number: number): Said | undefined {
    const [, mark, name = ""] = MARK.exec(line) ?? [];
    if (mark !== undefined) {
      const ended = this.#endPiece();
      this.#piece = { mark, name };
      if (mark === "Thinking") this.#text.add(name, number);
      return ended;
    }
    const resumes =
      this.#piece !== undefined && (this.#piece.mark === "" || line === "" || /^\s/.test(line));
    const ended = resumes ? undefined : this.#endPiece();
    if (!resumes) this.#piece = { mark: "", name: "" };
    this.#text.add(line, number);
    return ended;
  }

  /** Gives the remaining parts. */
  *end(): Generator<Said> {
    const ended = this.#endPiece();
    if (ended !== undefined) yield ended;
    if (this.#said !== undefined) yield this.#said;
    this.#said = undefined;
  }

  #endPiece(): Said | undefined {
    if (this.#piece === undefined) return undefined;
    const { mark, name } = this.#piece;
    this.#piece = undefined;
    const text = this.#text.take((whole) => dedent(whole).trim());
    if (mark === "Tool call") {
      const id = `${this.#id}/call-${this.#calls++}`;
      this.#open.set(id, name);
      return this.#put({ type: "tool_use", id, name, input: toInput(text) }, text.length);
    }
    if (mark === "Tool result") {
      const toolUseId = this.#answered(name) ?? `${this.#id}/unknown`;
      return this.#put(resultBlock(toolUseId, name, text, false), text.length);
    }
    if (text === "") return undefined;
    return this.#put({ type: mark === "Thinking" ? "thinking" : "text", text }, text.length);
  }

  /** Results do not name their call: it is the first open one of that name. */
  #answered(name: string): string | undefined {
    for (const [id, called] of this.#open) {
      if (called !== name) continue;
      this.#open.delete(id);
      return id;
    }
    return undefined;
  }

  /** Gives the current part if the block does not belong to it, or does not fit. */
  #put(block: Block, textLength: number): Said | undefined {
    const isResult = block.type === "tool_result";
    const length = textLength + BLOCK_LENGTH;
    const before = this.#said;
    const hasRoom = this.#length + length <= MAX_CONTENT_BYTES;
    if (before?.isResult === isResult && hasRoom) {
      before.blocks.push(block);
      this.#length += length;
      return undefined;
    }
    this.#said = { blocks: [block], fields: {}, isResult };
    this.#length = length;
    return before;
  }
}

function dedent(text: string): string {
  const lines = text.split("\n");
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const indent = line.search(/\S/);
    if (indent >= 0) least = Math.min(least, indent);
  }
  return lines.map((line) => line.slice(Number.isFinite(least) ? least : 0)).join("\n");
}

/** Arguments as JSON, `name: value` or `name=value`; anything else is one text. */
function toInput(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    // Not JSON: the older way of writing arguments.
  }
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => /^\s*([\w-]+)\s*[:=]\s?(.*)$/.exec(line));
  return pairs.every((pair) => pair !== null)
    ? JSON.stringify(Object.fromEntries(pairs.map((pair) => [pair[1], pair[2]])))
    : JSON.stringify({ text });
}
