/**
 * Conversations of Kiro's command line, the older generation: a database with a JSON value for each
 * conversation and folder.
 *
 * Format taken from aws/amazon-q-developer-cli (`chat-cli/src/cli/chat/conversation.rs`), of which Kiro
 * is the successor. Requests have no ids: time and content identify them.
 */

import type { Block } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import { toTime } from "../database/session-tables.ts";
import { ContentIds, type EntryDraft, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  countField,
  type Fields,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { commandFor, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { Environment, ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";
import {
  databaseText,
  type ForeignDatabase,
  shortColumn,
  textOfRow,
  withDatabase,
} from "../sqlite-file.ts";
import { FORMAT, toCall, toResult, valuesOf } from "./kiro-blocks.ts";

export const KIRO_DATABASE: TranscriptSource = {
  name: `${FORMAT}-database`,
  container: "database",

  places: (environment) => [
    {
      root: dataFolder(environment),
      matches: (path) => path === "data.sqlite3",
      skips: () => true,
    },
  ],

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (/kiro-cli[/\\]data\.sqlite3$/.test(path)) return true;
    return /conversations_v2/.test(text) && /conversation_id TEXT/.test(text);
  },

  read(input) {
    const problems = new ProblemLog();
    let state: JsonObject | undefined = input.resume;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (database) {
        const since = countField(input.resume ?? {}, "since") ?? 0;
        let newest = since;
        for (const row of changedRows(database, since)) {
          newest = Math.max(newest, countField(row, "updated_at") ?? 0);
          const session = toSession(database, row, problems);
          if (session !== undefined) yield session;
        }
        if (!database.hasFailed) state = { since: newest };
      });
    }
    return { sessions: sessions(), problems, state: () => state };
  },

  resumeCommand: ({ id }) => commandFor("kiro-cli chat --resume-id ", id),
};

function dataFolder(environment: Environment): string {
  const { home, platform } = environment;
  if (platform === "darwin") return joinPath(home, "Library/Application Support/kiro-cli");
  const [variable, folder] =
    platform === "win32"
      ? (["LOCALAPPDATA", "AppData/Local"] as const)
      : (["XDG_DATA_HOME", ".local/share"] as const);
  return joinPath(folderOf(environment, variable, joinPath(home, folder)), "kiro-cli");
}

/** Rows change in place; those of the newest time may have changed again. The first table has no times. */
function* changedRows(database: ForeignDatabase, since: number): Generator<Fields> {
  if (database.has("conversations_v2", "value")) {
    yield* database.rows(
      `SELECT 'conversations_v2' AS place, key, conversation_id AS id, ${shortColumn("value")},
        created_at, updated_at FROM conversations_v2 WHERE updated_at >= ? ORDER BY updated_at`,
      since,
    );
  }
  if (!database.has("conversations", "value")) return;
  yield* database.rows(
    `SELECT 'conversations' AS place, key, key AS id, ${shortColumn("value")} FROM conversations`,
  );
}

function toSession(
  database: ForeignDatabase,
  row: Fields,
  problems: ProblemLog,
): ImportedSession | undefined {
  const isOld = row["place"] === "conversations";
  const table = isOld ? "conversations" : "conversations_v2";
  // A long value is looked up by the name of its key in the table, which the row has as `id`.
  const key = isOld ? "key" : "conversation_id";
  const named = { ...row, [key]: row["id"] };
  const text = textOfRow(database, { table, key, column: "value" }, named, problems) ?? "null";
  const value = parseJson(text);
  const [conversation] = objectsIn([value]);
  if (conversation === undefined) {
    problems.add("not_json", `the conversation ${String(row["id"]).slice(0, 100)} is not JSON`);
    return undefined;
  }
  const history = objectsIn(conversation["history"]);
  const cwd = textField(row, "key") || folderIn(history[0] ?? {});
  const startedAt =
    toTime(row["created_at"]) ?? timeField(objectField(history[0] ?? {}, "user"), "timestamp");
  return {
    ...toImportedSession(`${FORMAT}-database`, {
      id:
        textField(conversation, "conversation_id") ??
        (isOld ? null : (textField(row, "id") ?? null)),
      agent: FORMAT,
      cwd,
      startedAt,
    }),
    entries: entriesOf(conversation, history),
    problems,
  };
}

function folderIn({ user }: Fields): string | null {
  const state = objectField(objectField(objectsIn([user])[0] ?? {}, "env_context"), "env_state");
  return textField(state, "current_working_directory") ?? null;
}

async function* entriesOf(
  conversation: Fields,
  history: readonly Fields[],
): AsyncGenerator<ImportedEntry> {
  const ids = new ContentIds();
  const names = new Map<string, string>();
  const chosen = textField(objectField(conversation, "model_info"), "model_id");
  const [summary] = Array.isArray(conversation["latest_summary"])
    ? conversation["latest_summary"]
    : [];
  if (typeof summary === "string" && summary !== "") {
    yield toImportedEntry(FORMAT, {
      sourceId: ids.next(summary),
      id: null,
      kind: "compaction",
      blocks: [{ type: "text", text: summary }],
      data: { firstKeptEntryId: null, tokensBefore: null },
    });
  }
  for (const turn of history) {
    const user = objectField(turn, "user");
    const request = objectField(turn, "request_metadata");
    const base = { kind: "message" as const, id: null };
    const at = timeField(user, "timestamp") ?? toTime(request["request_start_timestamp_ms"]);
    for (const said of toUser(user, names)) {
      const sourceId = ids.next(JSON.stringify([at, said.blocks]));
      yield toImportedEntry(FORMAT, { ...base, ...said, sourceId, createdAt: at });
    }
    const assistant = objectField(turn, "assistant");
    const [kind = ""] = ["Response", "ToolUse"].filter((name) => name in assistant);
    if (kind === "") continue;
    const answer = objectField(assistant, kind);
    const blocks = toAnswer(answer, names);
    const ended = toTime(request["stream_end_timestamp_ms"]) ?? timeField(assistant, "timestamp");
    yield toImportedEntry(FORMAT, {
      ...base,
      sourceId: textField(answer, "message_id") ?? ids.next(JSON.stringify([ended, blocks])),
      id: textField(answer, "message_id") ?? null,
      role: "assistant",
      actor: FORMAT,
      blocks,
      createdAt: ended,
      model: textField(request, "model_id") ?? chosen ?? null,
    });
  }
}

/** Results of calls, and what the person said. */
function* toUser(
  user: Fields,
  names: ReadonlyMap<string, string>,
): Generator<Pick<EntryDraft, "role" | "actor" | "blocks" | "fields">> {
  const content = objectField(user, "content");
  const [kind = ""] = Object.keys(content);
  const given = objectField(content, kind);
  const results = objectsIn(given["tool_use_results"]).map((result) => {
    const id = textField(result, "tool_use_id") ?? "";
    const values = valuesOf(result["content"], (part) => part["Text"] ?? part["Json"]);
    return toResult(id, names.get(id), values, result["status"]);
  });
  if (results.length > 0) {
    yield { role: "tool", actor: results[0]?.toolName ?? null, blocks: results };
  }
  const prompt = textField(given, "prompt");
  if (prompt === undefined || prompt === "") return;
  const fields = otherFields(user, ["content", "timestamp", "env_context"]);
  yield { role: "user", blocks: [{ type: "text", text: prompt }], fields };
}

function toAnswer(answer: Fields, names: Map<string, string>): readonly Block[] {
  const text = textField(answer, "content");
  const calls = objectsIn(answer["tool_uses"]).map((call) => {
    const id = textField(call, "id") ?? "";
    names.set(id, textField(call, "name") ?? "");
    return toCall(id, call["name"], call["args"]);
  });
  return [...(text ? [{ type: "text" as const, text }] : []), ...calls];
}
