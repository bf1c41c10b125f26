/**
 * Session files of claw-code: one JSON object (version 1), or its successor, JSON lines with a
 * record for the session, its compaction, the typed input, and each message. Another version is read
 * as far as it is like this one: it is reported, and kept for exports.
 */

import { isPlainObject } from "../../model/json.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/look-ahead.ts";
import type { Fields } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import type { Line } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { ClawSession, toSession } from "./claw-session.ts";

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
