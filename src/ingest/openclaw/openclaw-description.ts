/** A session's peers from openclaw's database, in the terms of the older list. */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { ForeignDatabase } from "../sqlite-file.ts";
import { ARCHIVES } from "./openclaw-archives.ts";

export interface Description {
  readonly key: string | undefined;
  /** The key, if it leads to this session now. */
  readonly current: string | undefined;
  /** In the terms of the older list of sessions. */
  readonly entry: Fields;
  readonly parent: string | null;
}

/** As far as this version's tables have it; little is left of a removed session. */
export function describe(database: ForeignDatabase, id: string): Description {
  const one = (table: string, column: string, value: string): Fields => {
    if (!database.has(table, column)) return {};
    const [row] = database.rows(`SELECT * FROM ${table} WHERE ${column} = ? LIMIT 1`, value);
    return row ?? {};
  };
  const window = one("session_windows", "session_id", id);
  const node = one("session_nodes", "current_session_id", id);
  const stored = parseJson(textField(node, "entry_json") ?? "{}");
  const spawner = textField(node, "spawned_by");
  const started = spawner === undefined ? {} : one("session_nodes", "session_key", spawner);
  const parent =
    textField(node, "fork_source_session_id") ?? textField(started, "current_session_id") ?? null;
  const told: Fields = {
    label: textField(node, "label"),
    displayName: textField(window, "display_name") ?? textField(node, "display_name"),
    channel: textField(window, "channel"),
    chatType: textField(window, "chat_type"),
  };
  const known = Object.entries(told).filter(([, value]) => value !== undefined);
  return {
    key:
      textField(window, "session_key") ??
      textField(node, "session_key") ??
      archivedKey(database, id),
    current: textField(node, "session_key"),
    entry: {
      ...(isPlainObject(stored) ? (stored as JsonObject) : {}),
      ...Object.fromEntries(known),
    },
    parent: parent === id ? null : parent,
  };
}

/** An archive has it as well; the rest of its row may have megabytes. */
function archivedKey(database: ForeignDatabase, id: string): string | undefined {
  if (!database.has(ARCHIVES, "session_key")) return undefined;
  const sql = `SELECT session_key FROM ${ARCHIVES} WHERE session_id = ? LIMIT 1`;
  const [row] = database.rows(sql, id);
  return textField(row ?? {}, "session_key");
}
