/**
 * Sessions of Goose: a database of sessions and messages, and its predecessor, JSON lines whose
 * first describes the session.
 *
 * Goose rewrites a whole conversation under new row numbers when it compacts it. So time and
 * content identify a message.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toMessageDrafts } from "../anthropic-content.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  readSessionTables,
  rowFields,
  type SessionTables,
  toTime,
} from "../database/session-tables.ts";
import {
  ContentIds,
  type EntryDraft,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import {
  type Fields,
  nameOf,
  otherFields,
  textField,
  thinkingBlock,
  toImageBlock,
} from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { Environment, ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, shortColumn, textOfRow } from "../sqlite-file.ts";

const FORMAT = "goose";

/** Added and rewritten rows have higher numbers. */
const TABLES: SessionTables = {
  column: "content_json",
  grows: { column: "id", repeats: false },
  state: "through",
  order: "id",
};

export const GOOSE: TranscriptSource = {
  name: FORMAT,
  container: "database",

  places: (environment) => [
    { root: sessionsFolder(environment), matches: (path) => path === "sessions.db" },
  ],

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (/goose[/\\]sessions[/\\]sessions\.db$/.test(path)) return true;
    return /content_json/.test(text) && /created_timestamp/.test(text) && /working_dir/.test(text);
  },

  read: (input) =>
    readSessionTables(input, TABLES, (database, session, problems) =>
      toSession(session, databaseEntries(database, session, problems), problems),
    ),

  resumeCommand: ({ id }) => commandFor("goose session --resume --session-id ", id),
};

/** The files of Goose before its database. */
export const GOOSE_FILES: TranscriptSource = {
  name: `${FORMAT}-files`,

  places: (environment) => [
    {
      root: sessionsFolder(environment),
      matches: (path) => /^[^/]+\.jsonl$/.test(path),
      skips: () => true,
    },
  ],

  recognise(head) {
    const first = firstRecord(head) ?? {};
    return (
      typeof first["working_dir"] === "string" &&
      ("message_count" in first || "description" in first) &&
      !("type" in first)
    );
  },

  read: (input) =>
    toTranscript(async function* (problems) {
      const records = readRecords(input.lines, problems);
      const { value: first, done } = await records.next();
      if (done) return;
      const id = fileName(input.path).replace(/\.jsonl$/, "") || null;
      async function* entries(): AsyncGenerator<ImportedEntry> {
        const messages = new GooseMessages(problems);
        for await (const { record, line } of records) yield* messages.read(record, line);
      }
      yield toSession({ ...first.record, id }, entries(), problems);
    }),
};

function sessionsFolder(environment: Environment): string {
  const data = folderOf(environment, "XDG_DATA_HOME", joinPath(environment.home, ".local/share"));
  return joinPath(data, "goose/sessions");
}

async function* databaseEntries(
  database: ForeignDatabase,
  session: Fields,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const messages = new GooseMessages(problems);
  const column = { table: "messages", key: "id", column: "content_json" };
  const meta = database.has("messages", "metadata_json") ? ", metadata_json" : "";
  const sql = `SELECT CAST(id AS TEXT) AS id, role, ${shortColumn("content_json")}, created_timestamp${meta}
    FROM messages WHERE session_id = ? ORDER BY messages.id`;
  for (const row of database.rows(sql, textField(session, "id") ?? "")) {
    const content = parseJson(textOfRow(database, column, row, problems) ?? "");
    const metadata = parseJson(textField(row, "metadata_json") ?? "null");
    const created = row["created_timestamp"];
    yield* messages.read({ role: row["role"], content, created, metadata });
  }
}

class GooseMessages {
  readonly #problems: ProblemLog;
  readonly #names = new RecentMap<string, string>(KEPT_CALLS);
  readonly #ids = new ContentIds();

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  *read(message: Fields, line?: number): Generator<ImportedEntry> {
    const { role, content, created } = message;
    const text = JSON.stringify([role, content, created]) ?? "";
    // The same text within a second is a repetition.
    const sourceId = this.#ids.next(text);
    const drafts = toDrafts(message, sourceId, this.#names);
    if (drafts === undefined) {
      this.#problems.add("unexpected", "a record without a message was kept as custom data", line);
      const data = otherFields(message, []);
      yield toCustomEntry(FORMAT, sourceId, "record", data, toTime(created));
      return;
    }
    for (const draft of drafts) yield toImportedEntry(FORMAT, { id: null, ...draft });
  }
}

function toSession(
  session: Fields,
  entries: AsyncIterable<ImportedEntry>,
  problems: ProblemLog,
): ImportedSession {
  const title = textField(session, "name") || textField(session, "description") || null;
  const created = textField(session, "created_at");
  // SQLite's CURRENT_TIMESTAMP is UTC without a zone.
  const time = Date.parse(created === undefined ? "" : `${created.replace(" ", "T")}Z`);
  const known = ["id", "name", "description", "working_dir", "created_at"];
  return {
    ...toImportedSession(FORMAT, {
      id: textField(session, "id") ?? null,
      title,
      cwd: textField(session, "working_dir") || null,
      startedAt: Number.isNaN(time) ? null : time,
      fields: rowFields(session, known),
    }),
    entries,
    problems,
  };
}

/** Undefined if it is not a message. `fields` are further known fields. */
function toDrafts(
  message: Fields,
  sourceId: string,
  names: RecentMap<string, string>,
): EntryDraft[] | undefined {
  const { role, content, metadata } = message;
  if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) return undefined;
  const shown: Fields = isPlainObject(metadata) ? metadata : {};
  const draft = {
    sourceId,
    kind: "message" as const,
    role: role as "user" | "assistant",
    actor: role === "assistant" ? FORMAT : null,
    blocks: content.map(toBlock),
    createdAt: toTime(message["created"]),
    fields: otherFields(message, ["role", "content", "created", "id", "metadata"]),
    // Injected for the model and hidden from the user.
    ...(role === "user" && shown["userVisible"] === false ? { marks: { injected: true } } : {}),
  };
  return toMessageDrafts(draft, names);
}

function toBlock(content: unknown): Block {
  const known = isPlainObject(content) ? toKnownBlock(content) : undefined;
  return known ?? { type: "opaque", provider: FORMAT, json: JSON.stringify(content) ?? "null" };
}

function toKnownBlock(fields: Fields): Block | undefined {
  const id = textField(fields, "id");
  switch (fields["type"]) {
    case "text": {
      const text = textField(fields, "text");
      return text === undefined ? undefined : { type: "text", text };
    }
    case "thinking": {
      const text = textField(fields, "thinking");
      const signature = textField(fields, "signature");
      if (text === undefined) return undefined;
      return thinkingBlock(text, signature);
    }
    case "image":
      return toImageBlock(fields);
    case "toolRequest":
    case "frontendToolRequest": {
      const call = successOf(fields["toolCall"]);
      if (id === undefined || !isPlainObject(call)) return undefined;
      const input = JSON.stringify(call["arguments"] ?? {}) ?? "{}";
      return { type: "tool_use", id, name: nameOf(call["name"] ?? ""), input };
    }
    case "toolResponse": {
      const result = fields["toolResult"];
      if (id === undefined || result === undefined) return undefined;
      return { type: "tool_result", toolUseId: id, ...toOutput(result) };
    }
    default:
      return undefined;
  }
}

/** A result is a success with a value, or an error with its text. */
function successOf(result: unknown): unknown {
  return isPlainObject(result) && "value" in result ? result["value"] : undefined;
}

function toOutput(result: unknown): { output: string; isError: boolean } {
  const error = isPlainObject(result) ? textField(result, "error") : undefined;
  if (error !== undefined) return { output: error, isError: true };
  const value = successOf(result);
  const list = isPlainObject(value) ? value["content"] : value;
  const texts = (Array.isArray(list) ? list : []).map((item) =>
    isPlainObject(item) ? (textField(item, "text") ?? `[${nameOf(item["type"])}]`) : nameOf(item),
  );
  return { output: texts.join("\n"), isError: isPlainObject(value) && value["isError"] === true };
}
