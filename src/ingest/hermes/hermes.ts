/**
 * Sessions of Hermes Agent: `state.db`, with a row per message in OpenAI's form.
 *
 * A message that the user retracted stays in the table as inactive: here it is off the path. A
 * compressed conversation continues in another session that names its parent.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import {
  readSessionTables,
  rowFields,
  type SessionTables,
  toOddDraft,
  toSummaryDraft,
  toTime,
} from "../database/session-tables.ts";
import { type EntryDraft, toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, nameOf, objectField, objectsIn, resultBlock, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, shortColumn, textOfRow } from "../sqlite-file.ts";

const FORMAT = "hermes";

const TABLES: SessionTables = {
  column: "tool_call_id",
  grows: { column: "id", repeats: false },
  state: "through",
  order: "started_at, id",
};

export const HERMES: TranscriptSource = {
  name: FORMAT,
  container: "database",

  places: (environment) => [
    {
      root: folderOf(environment, "HERMES_HOME", joinPath(environment.home, ".hermes")),
      matches: (path) => /^(profiles\/[^/]+\/)?state\.db$/.test(path),
      skips: (path) => !/^profiles(\/[^/]+)?$/.test(path),
    },
  ],

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (/[/\\]\.hermes[/\\]/.test(path) && path.endsWith("state.db")) return true;
    const hasTables = /CREATE TABLE "?sessions/.test(text) && /CREATE TABLE "?messages/.test(text);
    return hasTables && /tool_call_id/.test(text) && /parent_session_id/.test(text);
  },

  read: (input) =>
    readSessionTables(input, TABLES, (database, session, problems) => {
      const messages = new HermesMessages(database, problems);
      return {
        ...toSession(session, fileName(input.path)),
        entries: messages.read(textField(session, "id") ?? ""),
        leaf: () => messages.leaf,
        problems,
      };
    }),

  resumeCommand: ({ id }) => commandFor("hermes --resume ", id),
};

/** The columns that older versions lack. */
const OPTIONAL = ["reasoning", "reasoning_content", "active", "compacted", "_compressed_summary"];

class HermesMessages {
  leaf: string | undefined;
  readonly #database: ForeignDatabase;
  readonly #problems: ProblemLog;

  constructor(database: ForeignDatabase, problems: ProblemLog) {
    this.#database = database;
    this.#problems = problems;
  }

  async *read(sessionId: string): AsyncGenerator<ImportedEntry> {
    const database = this.#database;
    const optional = OPTIONAL.filter((name) => database.has("messages", name));
    const columns = ["role", "tool_call_id", "tool_calls", "tool_name", "timestamp", ...optional];
    const sql = `SELECT CAST(id AS TEXT) AS id, ${columns.join(", ")}, ${shortColumn("content")}
      FROM messages WHERE session_id = ? ORDER BY messages.id`;
    const column = { table: "messages", key: "id", column: "content" };
    let tip: string | null = null;
    let aside: string | null = null;
    for (const row of database.rows(sql, sessionId)) {
      const draft = this.#draft(row, textOfRow(database, column, row, this.#problems) ?? "");
      // Compacted messages stay on the path; other inactive ones were retracted.
      const isAside = row["active"] === 0 && row["compacted"] !== 1;
      const parentSourceId: string | null = isAside ? (aside ?? tip) : tip;
      if (draft.kind === "message" || draft.kind === "compaction") {
        if (isAside) aside = draft.sourceId;
        else {
          tip = draft.sourceId;
          this.leaf = tip;
          aside = null;
        }
      }
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId });
    }
  }

  #draft(row: Fields, content: string): EntryDraft {
    const sourceId = textField(row, "id") ?? "";
    const { role } = row;
    const createdAt = toTime(row["timestamp"]);
    const blocks = toBlocks(content);
    const base = { sourceId, createdAt };
    if (row["_compressed_summary"] === 1) return toSummaryDraft({ ...base, blocks });
    if (role === "tool") {
      const toolName = textField(row, "tool_name");
      const toolUseId = textField(row, "tool_call_id") ?? "";
      const result = resultBlock(toolUseId, toolName, content, false);
      return { ...base, kind: "message", role, actor: toolName ?? null, blocks: [result] };
    }
    if (role === "assistant") {
      const thought = textField(row, "reasoning") || textField(row, "reasoning_content");
      const thinking: Block[] = thought ? [{ type: "thinking", text: thought }] : [];
      const said = [...thinking, ...blocks, ...toCalls(textField(row, "tool_calls"))];
      return { ...base, kind: "message", role: "assistant", actor: FORMAT, blocks: said };
    }
    if (role === "user") return { ...base, kind: "message", role: "user", blocks };
    if (role === "system") {
      const marks = { injected: true };
      return { ...base, kind: "message", role: "system", blocks, marks };
    }
    return toOddDraft(FORMAT, role, { ...base, blocks }, this.#problems);
  }
}

/** Text, or after a control character and `json:` a list of parts in OpenAI's form. */
function toBlocks(content: string): Block[] {
  const isMarked = content.charCodeAt(0) <= 1 && content.startsWith("json:", 1);
  const parts = isMarked ? parseJson(content.slice(6)) : undefined;
  if (!Array.isArray(parts)) return content === "" ? [] : [{ type: "text", text: content }];
  return parts.map((part): Block => {
    const text = isPlainObject(part) ? textField(part, "text") : undefined;
    if (text !== undefined) return { type: "text", text };
    return { type: "opaque", provider: "openai", json: JSON.stringify(part) ?? "null" };
  });
}

function toCalls(json: string | undefined): Block[] {
  const calls = json === undefined ? undefined : parseJson(json);
  return objectsIn(calls).map((call): Block => {
    const called = objectField(call, "function");
    const input = textField(called, "arguments") ?? JSON.stringify(called["arguments"] ?? {});
    const id = textField(call, "id") ?? textField(call, "call_id") ?? "";
    return { type: "tool_use", id, name: nameOf(called["name"] ?? ""), input: input ?? "{}" };
  });
}

/** Instructions are the same in every session, and longer than most. */
const UNKEPT = ["id", "title", "cwd", "git_branch", "started_at", "parent_session_id"];
const LONG = ["system_prompt", "model_config", "tool_names"];

function toSession(session: Fields, file: string): ReturnType<typeof toImportedSession> {
  return toImportedSession(FORMAT, {
    id: textField(session, "id") ?? (file === "" ? null : file),
    title: textField(session, "title") || null,
    cwd: textField(session, "cwd") || null,
    gitBranch: textField(session, "git_branch") || null,
    startedAt: toTime(session["started_at"]),
    parentSession: textField(session, "parent_session_id") ?? null,
    fields: rowFields(session, [...UNKEPT, ...LONG]),
  });
}
