/**
 * Session files of claw-code: one JSON object (version 1), or its successor, JSON lines with a
 * record for the session, its compaction, the typed input, and each message. Another version is read
 * as far as it is like this one: it is reported, and kept for exports.
 */

import { type Block, textOf } from "../../model/block.ts";
import { ROLES, type Role, type Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/list-scanner.ts";
import {
  countField,
  type Fields,
  objectField,
  otherFields,
  presentFields,
  resultBlock,
  textField,
  timeField,
  toCallBlock,
  toTextBlock,
} from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import type { Line } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "claw-code";

const RECORDS = ["session_meta", "message", "compaction", "prompt_history"];

export const CLAW_CODE: TranscriptSource = {
  name: "claw-code",

  recognise(head) {
    const first = firstRecord(head);
    if (first !== undefined && typeof first["type"] === "string") return isRecord(first);
    if (first !== undefined) return Array.isArray(first["messages"]) && "version" in first;
    const text = textOfHead(head);
    // Codex has a header of the same name, with a payload.
    if (/^\s*\{[^\n]{0,200}"type"\s*:\s*"session_meta"/.test(text)) {
      return !/^[^\n]{0,400}"payload"\s*:/.test(text);
    }
    return (
      /^\s*\{/.test(text) && /"version"\s*:\s*\d/.test(text) && /"messages"\s*:\s*\[/.test(text)
    );
  },

  isText: (path) => path.endsWith(".json"),

  read(input) {
    const problems = new ProblemLog();
    return { sessions: readSessions(input, problems), problems };
  },
};

/** A message record has a message with blocks; other agents have records of the same name. */
function isRecord(record: Fields): boolean {
  const { type, message } = record;
  if (type === "message") return isPlainObject(message) && Array.isArray(message["blocks"]);
  if (type === "compaction") return "removed_message_count" in record;
  return RECORDS.includes(type as string) && !("payload" in record);
}

async function* readSessions(
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  let found: unknown;
  // A line that does not parse is part of a multi-line object, or damaged.
  const ahead = await lookAhead(input, (read) => {
    found = tryParse(read.at(-1)?.text ?? "");
    return found !== undefined;
  });
  const isLog = isPlainObject(found)
    ? isRecord(found)
    : ahead.isCut && /\.jsonl\b/.test(input.path);
  if (isLog) yield* readLines(ahead.input.lines, problems);
  else yield* readObject(ahead.input, problems);
}

async function* readLines(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const records = readRecords(lines, problems);
  const { value: first, done } = await records.next();
  if (done) return;
  const hasMeta = first.record["type"] === "session_meta";
  if (!hasMeta) problems.add("missing_header", "the file begins without session_meta", first.line);
  const meta = hasMeta ? first.record : {};
  const session = new ClawSession(meta, problems, first.line);
  async function* entries(): AsyncGenerator<ImportedEntry> {
    if (!hasMeta && first !== undefined) yield* toEntries(first.record, first.line);
    for await (const { record, line } of records) yield* toEntries(record, line);
    yield* session.end();
  }
  function* toEntries(record: Fields, line: number): Generator<ImportedEntry> {
    if (record["type"] === "message") yield* session.message(record["message"], line);
    else if (record["type"] === "prompt_history") yield* session.asked(record);
    else if (record["type"] === "compaction") session.compacted(record, line);
    else {
      const type = JSON.stringify(record["type"]) ?? "no type";
      problems.add("unexpected", `a record of ${type} was left out`, line);
    }
  }
  yield { ...toSession(meta), entries: entries(), problems };
}

async function* readObject(
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const texts: string[] = [];
  const isNameless = input.path === "";
  const lines = isNameless ? noteTexts(input.lines, texts) : input.lines;
  const document = await readDocument({ ...input, lines }, "messages", problems);
  if (document === undefined) return;
  const { frame } = document;
  if (!isPlainObject(frame) || !Array.isArray(frame["messages"])) {
    problems.add("not_json", "the file is not a JSON object with messages");
    return;
  }
  const session = new ClawSession(frame, problems);
  const { compaction, prompt_history: asked } = frame;
  async function* entries(messages: AsyncIterable<unknown>): AsyncGenerator<ImportedEntry> {
    if (isPlainObject(compaction)) session.compacted(compaction);
    for (const record of Array.isArray(asked) ? asked : []) {
      if (isPlainObject(record)) yield* session.asked(record);
    }
    for await (const message of messages) {
      if (message === undefined) session.pass();
      else yield* session.message(message);
    }
    yield* session.end();
  }
  const known = toSession(frame);
  // Without an id and a file, the content identifies the session.
  const content = () => `sha256-${toHex(sha256(Buffer.from(texts.join("\n")))).slice(0, 32)}`;
  const id = known.id ?? (isNameless ? content() : null);
  yield { ...known, id, entries: entries(document.elements(problems)), problems };
}

async function* noteTexts(lines: AsyncIterable<Line>, texts: string[]): AsyncGenerator<Line> {
  for await (const line of lines) {
    texts.push(line.text);
    yield line;
  }
}

function tryParse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    // The caller reports it if it is neither a line nor part of an object.
    return undefined;
  }
}

// A session of claw-code: its metadata, then its messages.
//
// Messages have no ids, so they are identified by their number. A compacted session's file holds a
// record of the compaction, the continuation as its first message, and the rest. The continuation
// becomes our compaction entry; the record identifies it, never its text. The record also has the
// number of removed messages, so the remaining ones keep their numbers: a file compacted since its
// last reading adds the compaction and new messages.

/** The only version that is documented. */
const VERSION = 1;

/** Session metadata, with the same names in both formats. */
const KNOWN = ["session_id", "created_at_ms", "updated_at_ms", "workspace_root", "model"];

function toSession(meta: Fields): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const id = textField(meta, "session_id") ?? null;
  const fork = objectField(meta, "fork");
  const known = ["type", "messages", "compaction", "prompt_history", ...KNOWN];
  const fields = otherFields(meta, isKnownVersion(meta) ? [...known, "version"] : known);
  const model = textField(meta, "model");
  return {
    source: FORMAT,
    agent: FORMAT,
    id,
    title: null,
    cwd: textField(meta, "workspace_root") || null,
    gitBranch: null,
    startedAt: timeField(meta, "created_at_ms") ?? startOf(id),
    parentSession: textField(fork, "parent_session_id") ?? null,
    metadata: toSourceMetadata({
      format: FORMAT,
      id,
      ...presentFields({ fields: { ...fields, ...(model === undefined ? {} : { model }) } }),
    }),
  };
}

function isKnownVersion({ version = VERSION }: Fields): boolean {
  return version === VERSION;
}

/** Ids made by claw-code itself contain the session's start. */
function startOf(id: string | null): number | null {
  const [, ms] = /^session-(\d{12,14})-\d+$/.exec(id ?? "") ?? [];
  return ms === undefined ? null : Number(ms);
}

class ClawSession {
  readonly #problems: ProblemLog;
  readonly #model: string | null;
  /** Messages have no times; the file's own is an upper bound. */
  readonly #createdAt: number | null;
  #compaction: Fields | undefined;
  /** The text of the continuation, if any. */
  #continuation: string | undefined;
  #isCompactionGiven = false;
  #messages = 0;
  #asked = 0;

  constructor(meta: Fields, problems: ProblemLog, line?: number) {
    this.#problems = problems;
    if (!isKnownVersion(meta)) {
      const version = JSON.stringify(meta["version"])?.slice(0, 40);
      problems.add("unexpected", `version ${version} was read as version ${VERSION}`, line);
    }
    this.#model = textField(meta, "model") ?? null;
    this.#createdAt = timeField(meta, "updated_at_ms") ?? timeField(meta, "created_at_ms");
  }

  /** The record of a compaction precedes the messages. */
  compacted(record: Fields, line?: number): void {
    if (textField(record, "summary") === undefined) {
      this.#problems.add("unexpected", "a compaction without a summary was left out", line);
    } else if (this.#messages > 0) {
      this.#problems.add("unexpected", "a compaction after messages was left out", line);
    } else this.#compaction = record;
  }

  *message(message: unknown, line?: number): Generator<ImportedEntry> {
    const setting = { model: this.#model, createdAt: this.#createdAt, problems: this.#problems };
    const entry = toMessage(message, this.#idOf(this.#messages), setting, line);
    const isFirst = this.#messages === 0 && this.#continuation === undefined;
    if (this.#compaction !== undefined && isFirst && entry?.role === "system") {
      this.#continuation = textOf(entry.blocks);
      return;
    }
    // An unreadable message has a number too, so that later ones keep theirs when it is repaired.
    this.#messages++;
    if (entry === undefined) return;
    yield entry;
    yield* this.#compactionEntry(entry.sourceId);
  }

  /** An unreadable message, already reported. */
  pass(): void {
    this.#messages++;
  }

  /** A compaction without kept messages is the whole session. */
  *end(): Generator<ImportedEntry> {
    yield* this.#compactionEntry(null);
  }

  /** The input history for the arrow keys, which is not part of the conversation. */
  *asked(record: Fields): Generator<ImportedEntry> {
    const number = this.#asked++;
    yield {
      sourceId: `prompt-${number}`,
      kind: "custom",
      role: null,
      actor: null,
      blocks: [],
      data: { type: "prompt_history", data: otherFields(record, ["type"]) },
      usage: null,
      model: null,
      createdAt: timeField(record, "timestamp_ms"),
      metadata: toSourceMetadata({ format: FORMAT, id: null }),
    };
  }

  /**
   * After the first kept message, wherever the file ends by now: the same entry at the same place
   * however much the file has grown.
   */
  *#compactionEntry(firstKept: string | null): Generator<ImportedEntry> {
    const record = this.#compaction;
    if (record === undefined || this.#isCompactionGiven) return;
    this.#isCompactionGiven = true;
    const data: JsonObject = {
      firstKeptEntryId: firstKept,
      tokensBefore: null,
      ...presentFields({
        count: countField(record, "count"),
        removedMessages: countField(record, "removed_message_count"),
        continuation: this.#continuation,
      }),
    };
    const fields = otherFields(record, ["type", "count", "removed_message_count", "summary"]);
    yield {
      sourceId: `compaction-${countField(record, "count") ?? 1}`,
      kind: "compaction",
      role: null,
      actor: null,
      data,
      references: ["firstKeptEntryId"],
      blocks: [{ type: "text", text: textField(record, "summary") ?? "" }],
      usage: null,
      model: null,
      createdAt: this.#createdAt,
      metadata: toSourceMetadata({ format: FORMAT, id: null, ...presentFields({ fields }) }),
    };
  }

  /**
   * After one compaction, the first message follows the removed ones. The number removed by an
   * earlier compaction is unknown: then numbering restarts.
   */
  #idOf(number: number): string {
    const record = this.#compaction;
    if (record === undefined) return `message-${number}`;
    const count = countField(record, "count") ?? 1;
    const removed = countField(record, "removed_message_count") ?? 0;
    return count === 1 ? `message-${removed + number}` : `message-${count}.${number}`;
  }
}

/** Fields of the file that apply to all messages. */
interface MessageSetting {
  readonly model: string | null;
  readonly createdAt: number | null;
  readonly problems: ProblemLog;
}

/** Undefined, with a problem, if it is not a message. */
function toMessage(
  message: unknown,
  sourceId: string,
  setting: MessageSetting,
  line?: number,
): ImportedEntry | undefined {
  const { problems } = setting;
  if (!isPlainObject(message) || !Array.isArray(message["blocks"])) {
    problems.add("unexpected", "a message without a list of blocks was left out", line);
    return undefined;
  }
  const role = ROLES.find((known) => known === message["role"]);
  if (role === undefined) {
    problems.add("unexpected", "a message whose role is unknown was left out", line);
    return undefined;
  }
  const blocks = message["blocks"].map(toBlock);
  const { usage } = message;
  const known = ["role", "blocks", ...(isUsage(usage) ? ["usage"] : [])];
  const fields = otherFields(message, known);
  return {
    sourceId,
    kind: "message",
    role,
    actor: actorOf(role, blocks),
    blocks,
    data: null,
    usage: isUsage(usage) ? toUsage(usage) : null,
    model: role === "assistant" ? setting.model : null,
    createdAt: setting.createdAt,
    metadata: toSourceMetadata({ format: FORMAT, id: null, ...presentFields({ fields }) }),
  };
}

function actorOf(role: Role, blocks: readonly Block[]): string | null {
  if (role === "assistant") return FORMAT;
  const [first] = blocks;
  return role === "tool" && first?.type === "tool_result" ? (first.toolName ?? null) : null;
}

const COUNTS = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  cache_creation_input_tokens: "cacheCreationTokens",
  cache_read_input_tokens: "cacheReadTokens",
} as const satisfies Record<string, keyof Usage>;

function isUsage(usage: unknown): usage is Record<string, unknown> {
  return isPlainObject(usage) && countField(usage, "input_tokens") !== undefined;
}

function toUsage(usage: Fields): Usage {
  const counts = Object.entries(COUNTS).map(([theirs, ours]) => [
    ours,
    countField(usage, theirs) ?? 0,
  ]);
  return Object.fromEntries(counts) as Usage;
}

function toBlock(block: unknown): Block {
  const known = isPlainObject(block) ? toKnownBlock(block) : undefined;
  return known ?? { type: "opaque", provider: FORMAT, json: JSON.stringify(block) };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      if (text === undefined) return undefined;
      return { ...otherFields(fields, ["type", "thinking"]), type: "thinking", text };
    }
    case "tool_use":
      return toCallBlock(fields, "input");
    case "tool_result": {
      const toolUseId = textField(fields, "tool_use_id");
      const toolName = textField(fields, "tool_name");
      const output = textField(fields, "output");
      if (toolUseId === undefined || output === undefined) return undefined;
      const known = ["type", "tool_use_id", "tool_name", "output", "is_error"];
      const isError = fields["is_error"] === true;
      return resultBlock(toolUseId, toolName, output, isError, otherFields(fields, known));
    }
    default:
      return undefined;
  }
}
