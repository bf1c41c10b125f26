/**
 * The database that newer versions of openclaw keep for each agent.
 *
 * `transcript_events` has the records of pi's format as they stood in the files before, numbered within
 * their session; `session_windows` and `session_nodes` say whom a session was with. A later reading asks
 * only for the sessions to which something was written since.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { countField, type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { Line } from "../lines.ts";
import { fileName, folderName } from "../machine-paths.ts";
import { readPiFile } from "../pi-format/pi-file.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, withDatabase } from "../sqlite-file.ts";
import { agentFolders, entriesOf, FORMAT, titleOf, withGateway } from "./openclaw-session.ts";

const FILE = "openclaw-agent.sqlite";

/** What is stamped with an earlier time may be committed later, while the gateway writes. */
const SLACK_MS = 60_000;

export const OPENCLAW_DATABASE: TranscriptSource = {
  name: `${FORMAT}-database`,
  container: "database",

  places(environment) {
    return agentFolders(environment).map((root) => ({
      root,
      matches: (path) => /^[^/]+\/agent\/openclaw-agent\.sqlite$/.test(path),
      skips: (path) => !/^[^/]+(\/agent)?$/.test(path),
    }));
  },

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    return (
      fileName(path) === FILE || /CREATE TABLE transcript_events ?\([^)]*event_json/.test(text)
    );
  },

  read(input) {
    const problems = new ProblemLog();
    // Until all is read, what is known is what was known before.
    let state = input.resume;
    let isPostponed = true;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (database) {
        const newest = newestEvent(database);
        const since = countField(input.resume ?? {}, "since") ?? 0;
        // One that ends before is another database, or an older state of it: then all is read.
        for (const id of changedSessions(database, since <= newest ? since : 0)) {
          yield* readSession(database, id, input, problems);
        }
        isPostponed = database.hasFailed;
        if (!database.hasFailed) state = { since: Math.min(newest, Date.now() - SLACK_MS) };
      });
    }
    const end = { state: () => state, isPostponed: () => isPostponed };
    return { sessions: sessions(), problems, ...end };
  },
};

function newestEvent(database: ForeignDatabase): number {
  if (!database.has("transcript_events", "event_json")) return 0;
  const [row] = database.rows("SELECT max(created_at) AS newest FROM transcript_events");
  return countField(row ?? {}, "newest") ?? 0;
}

/** From the oldest on. A list of ids: what is read in between is asked of the same database. */
function changedSessions(database: ForeignDatabase, since: number): string[] {
  if (!database.has("transcript_events", "event_json")) return [];
  const rows = database.rows(
    `SELECT session_id AS id FROM transcript_events GROUP BY session_id
      HAVING max(created_at) >= ? ORDER BY min(created_at), session_id`,
    since,
  );
  return [...rows].map((row) => textField(row, "id") ?? "").filter((id) => id !== "");
}

async function* readSession(
  database: ForeignDatabase,
  id: string,
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const agent = folderName(input.path, 2) || FORMAT;
  const { key, entry, parent } = describe(database, id);
  const transcript = readPiFile({ path: "", lines: events(database, id) }, async (session) => ({
    ...session,
    ...{ source: FORMAT, agent: FORMAT, id, entries: entriesOf(session, agent) },
    title: titleOf(entry),
    parentSession: session.parentSession ?? parent,
    metadata: withGateway(session.metadata, agent, key, entry),
  }));
  yield* transcript.sessions;
  problems.take(transcript.problems);
}

/** The records of a session, one in memory at a time. */
async function* events(database: ForeignDatabase, id: string): AsyncGenerator<Line> {
  const rows = database.rows(
    "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq",
    id,
  );
  let number = 0;
  for (const row of rows) {
    yield { number: ++number, offset: 0, text: textField(row, "event_json") ?? "", ended: true };
  }
}

interface Description {
  readonly key: string | undefined;
  /** In the words of the older list of sessions. */
  readonly entry: Fields;
  readonly parent: string | null;
}

/** Whom it was with, as far as this version's tables say so. */
function describe(database: ForeignDatabase, id: string): Description {
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
    key: textField(window, "session_key") ?? textField(node, "session_key"),
    entry: {
      ...(isPlainObject(stored) ? (stored as JsonObject) : {}),
      ...Object.fromEntries(known),
    },
    parent: parent === id ? null : parent,
  };
}
