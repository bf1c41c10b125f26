/**
 * Sessions of Crush: `.crush/crush.db` in each project's folder, with the parts of each message as
 * JSON.
 *
 * An answer changes while it is written, and has a final part when it is complete. One without it
 * is postponed until something follows it.
 */

import type { Block } from "../../model/block.ts";
import {
  readSessionTables,
  rowFields,
  type SessionTables,
  toOddDraft,
  toSummaryDraft,
  toTime,
} from "../database/session-tables.ts";
import { type EntryDraft, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  type Fields,
  objectField,
  objectsIn,
  resultBlock,
  textField,
  thinkingBlock,
} from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { fileName, folderName } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, shortColumn, textOfRow } from "../sqlite-file.ts";

const FORMAT = "crush";

/** Messages change in place: rows of the last second are read again. */
const TABLES: SessionTables = {
  column: "parts",
  grows: { column: "updated_at", repeats: true },
  state: "since",
  order: "created_at, id",
};

export const CRUSH: TranscriptSource = {
  name: FORMAT,
  container: "database",

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (fileName(path) === "crush.db") return true;
    return (
      /goose_db_version/.test(text) && /parts (TEXT|BLOB)/.test(text) && /finished_at/.test(text)
    );
  },

  read: (input) =>
    readSessionTables(input, TABLES, (database, session, problems, postpone) => ({
      ...toSession(session, projectOf(input.path)),
      entries: readMessages(database, session, problems, postpone),
      problems,
    })),
};

/** The folder that holds `.crush`. */
function projectOf(path: string): string | null {
  return folderName(path) === ".crush" ? path.replace(/[/\\]\.crush[/\\][^/\\]*$/, "") : null;
}

async function* readMessages(
  database: ForeignDatabase,
  session: Fields,
  problems: ProblemLog,
  postpone: () => void,
): AsyncGenerator<ImportedEntry> {
  const optional = ["model", "is_summary_message"].filter((name) => database.has("messages", name));
  const columns = ["id", "role", "created_at", ...optional].join(", ");
  const sql = `SELECT ${columns}, ${shortColumn("parts")} FROM messages
    WHERE session_id = ? ORDER BY created_at, rowid`;
  const column = { table: "messages", key: "id", column: "parts" };
  let open: EntryDraft | undefined;
  for (const row of database.rows(sql, textField(session, "id") ?? "")) {
    if (open !== undefined) yield toImportedEntry(FORMAT, open);
    open = undefined;
    const parsed = parseJson(textOfRow(database, column, row, problems) ?? "[]");
    const parts = objectsIn(parsed);
    const draft = toDraft(row, parts, problems);
    const isFinished = row["role"] !== "assistant" || parts.some(({ type }) => type === "finish");
    if (isFinished) yield toImportedEntry(FORMAT, draft);
    else open = draft;
  }
  // In progress, or its program died: the next message decides.
  if (open !== undefined) postpone();
}

function toDraft(row: Fields, parts: readonly Fields[], problems: ProblemLog): EntryDraft {
  const sourceId = textField(row, "id") ?? "";
  const { role } = row;
  const blocks = parts.filter(({ type }) => type !== "finish").map(toBlock);
  const base = { sourceId, createdAt: toTime(row["created_at"]), blocks };
  if (row["is_summary_message"] === 1) {
    const said = blocks.filter(({ type }) => type === "text");
    return toSummaryDraft({ ...base, blocks: said });
  }
  switch (role) {
    case "user":
      return { ...base, kind: "message", role };
    case "assistant":
      return {
        ...base,
        kind: "message",
        role,
        actor: FORMAT,
        model: textField(row, "model") || null,
      };
    case "tool": {
      const result = blocks.find((block) => block.type === "tool_result");
      return { ...base, kind: "message", role, actor: result?.toolName ?? null };
    }
    case "system":
      return { ...base, kind: "message", role, marks: { injected: true } };
    default:
      return toOddDraft(FORMAT, role, base, problems);
  }
}

function toBlock(part: Fields): Block {
  const data = objectField(part, "data");
  const text = (name: string) => textField(data, name);
  switch (part["type"]) {
    case "text":
      return { type: "text", text: text("text") ?? "" };
    case "reasoning":
      return thinkingBlock(text("thinking") ?? "", text("signature") || undefined);
    case "tool_call":
      return {
        type: "tool_use",
        id: text("id") ?? "",
        name: text("name") ?? "",
        input: text("input") || "{}",
      };
    case "tool_result": {
      const isError = data["is_error"] === true;
      const toolName = text("name") || undefined;
      return resultBlock(text("tool_call_id") ?? "", toolName, text("content") ?? "", isError);
    }
    default:
      return { type: "opaque", provider: FORMAT, json: JSON.stringify(part) };
  }
}

function toSession(session: Fields, cwd: string | null): ReturnType<typeof toImportedSession> {
  const known = ["id", "title", "parent_session_id", "created_at"];
  return toImportedSession(FORMAT, {
    id: textField(session, "id") ?? null,
    title: textField(session, "title") || null,
    parentSession: textField(session, "parent_session_id") || null,
    startedAt: toTime(session["created_at"]),
    cwd,
    fields: rowFields(session, known),
  });
}
