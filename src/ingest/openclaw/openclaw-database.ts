/**
 * The per-agent database of newer openclaw versions.
 *
 * `transcript_events` has records of pi's format, numbered within their session; `session_windows`
 * and `session_nodes` name a session's peers. Removed and long idle sessions are moved into
 * archives. A later reading queries only changed sessions.
 */

import { defined } from "../../model/defined.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { Line } from "../lines.ts";
import { fileName, folderName } from "../machine-paths.ts";
import { readPiFile } from "../pi-format/pi-file.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { databaseText, type ForeignDatabase, withDatabase } from "../sqlite-file.ts";
import {
  agentFolders,
  entriesOf,
  FORMAT,
  hasRecords,
  storedLines,
  titleOf,
  toRoute,
  withGateway,
} from "./openclaw.ts";
import { ARCHIVES, archivedLines, COLD_ARCHIVES, hasArchives } from "./openclaw-archives.ts";

const FILE = "openclaw-agent.sqlite";

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
      fileName(path) === FILE || /CREATE TABLE transcript_events ?\([^()]*event_json/.test(text)
    );
  },

  read(input) {
    const problems = new ProblemLog();
    // Until everything is read, the previous state is valid.
    let state = input.resume;
    let isPostponed = true;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (database) {
        // Read first: rows written meanwhile are read again.
        const marks = new SessionMarks(database);
        for (const id of marks.changedSince(input.resume)) {
          // Archived lines precede those in the database.
          for (const lines of archivedLines(database, id, input.files, problems)) {
            yield* readSession(database, id, lines, input, problems);
          }
          yield* readSession(database, id, storedLines(database, id, problems), input, problems);
        }
        isPostponed = database.hasFailed;
        if (!database.hasFailed) state = marks.state();
      });
    }
    const end = { state: () => state, isPostponed: () => isPostponed };
    return { sessions: sessions(), problems, ...end };
  },
};

async function* readSession(
  database: ForeignDatabase,
  id: string,
  lines: AsyncIterable<Line>,
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const agent = folderName(input.path, 2) || FORMAT;
  const { key, current, entry, parent } = describe(database, id);
  const transcript = readPiFile({ path: "", lines }, async (session) => ({
    ...session,
    source: FORMAT,
    agent: FORMAT,
    id,
    entries: entriesOf(session, agent),
    title: titleOf(entry),
    parentSession: session.parentSession ?? parent,
    metadata: withGateway(session.metadata, agent, key, entry),
    ...toRoute(current, entry),
  }));
  yield* transcript.sessions;
  problems.take(transcript.problems);
}

// Finds the sessions of openclaw's database that changed since an earlier reading.
//
// A record has its message's time, and may enter the database weeks later, with an imported or
// restored file, so timestamps do not help. A session's fingerprint has its number of records, the
// last one and its archives. Bucketed checksums, as in anti-entropy repair, keep the state small:
// fingerprints are summed in a fixed number of groups, and the sessions of a group are read if its
// sum differs.

/** Hex digits of a group: at most 4,096 groups, some 70 KB in all. */
const GROUP_DIGITS = 3;

/** Bytes of a sum: a collision has a probability of 1 in 280 million million. */
const SUM_BYTES = 6;

export class SessionMarks {
  /** The fingerprints of sessions, oldest first. */
  readonly #facts = new Map<string, string[]>();
  readonly #sums = new Map<string, Buffer>();

  constructor(database: ForeignDatabase) {
    for (const sql of questions(database)) {
      for (const { id, ...facts } of database.rows(sql)) {
        if (typeof id !== "string" || id === "") continue;
        const known = this.#facts.get(id) ?? [];
        known.push(JSON.stringify(Object.entries(facts)));
        this.#facts.set(id, known);
      }
    }
    for (const [id, facts] of this.#facts) this.#add(id, facts);
  }

  /** All sessions, if there is no state or it belongs to another database. */
  *changedSince(state: JsonObject | undefined): Generator<string> {
    const known = state?.["sessions"];
    const sums = isPlainObject(known) ? known : {};
    for (const id of this.#facts.keys()) {
      const group = groupOf(id);
      if (textField(sums, group) !== sumText(this.#sums.get(group))) yield id;
    }
  }

  state(): JsonObject {
    const sums = [...this.#sums].map(([group, sum]) => [group, sumText(sum)]);
    return { sessions: Object.fromEntries(sums) as JsonObject };
  }

  #add(id: string, facts: readonly string[]): void {
    const group = groupOf(id);
    const sum = this.#sums.get(group) ?? Buffer.alloc(SUM_BYTES);
    const hash = sha256(Buffer.from(JSON.stringify([id, ...facts])));
    for (let i = 0; i < SUM_BYTES; i++) sum[i] = (sum[i] ?? 0) ^ (hash[i] ?? 0);
    this.#sums.set(group, sum);
  }
}

/** Each gives rows with an `id` and fingerprint columns. */
function questions(database: ForeignDatabase): string[] {
  const asked: string[] = [];
  if (hasRecords(database)) {
    asked.push(`SELECT session_id AS id, count(*) AS records, max(seq) AS last,
      max(created_at) AS newest FROM transcript_events
      GROUP BY session_id ORDER BY min(created_at), session_id`);
    // Changes whenever earlier records are replaced.
    if (database.has("transcript_rewrite_watermarks", "generation")) {
      asked.push(`SELECT session_id AS id, generation FROM transcript_rewrite_watermarks
        WHERE session_id IN (SELECT session_id FROM transcript_events)`);
    }
  }
  for (const table of [ARCHIVES, COLD_ARCHIVES]) {
    if (!hasArchives(database, table)) continue;
    asked.push(`SELECT session_id AS id, archive_name AS name FROM ${table} ORDER BY rowid`);
  }
  return asked;
}

function groupOf(id: string): string {
  return toHex(sha256(Buffer.from(id))).slice(0, GROUP_DIGITS);
}

function sumText(sum: Buffer | undefined): string | undefined {
  return sum?.toString("base64url");
}

/** A session's peers from openclaw's database, in the terms of the older list. */
interface Description {
  readonly key: string | undefined;
  /** The key, if it leads to this session now. */
  readonly current: string | undefined;
  /** In the terms of the older list of sessions. */
  readonly entry: Fields;
  readonly parent: string | null;
}

/** As far as this version's tables have it; little is left of a removed session. */
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
  return {
    key:
      textField(window, "session_key") ??
      textField(node, "session_key") ??
      archivedKey(database, id),
    current: textField(node, "session_key"),
    entry: {
      ...(isPlainObject(stored) ? (stored as JsonObject) : {}),
      ...defined(told),
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
