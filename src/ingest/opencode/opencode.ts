/**
 * Sessions of opencode, and of Kilo Code, which is made from it: a database of sessions, messages and their parts, and its predecessor, a
 * tree of JSON files with the same content.
 *
 * Messages and parts change while the agent works, but stored entries do not. So a step is yielded
 * when it is complete: when it is marked so, when something follows it, or when it has not been
 * written to for a while.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { countField, type Fields, textField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { readJson } from "../json-file.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  Environment,
  FileAccess,
  ImportedSession,
  ImportedTranscript,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import {
  databaseText,
  type ForeignDatabase,
  type Row,
  shortColumn,
  textOfRow,
  withDatabase,
} from "../sqlite-file.ts";
import {
  FORMAT,
  MessageParts,
  type OpencodeMessage,
  toOpencodeSession,
} from "./opencode-session.ts";

export const OPENCODE: TranscriptSource = {
  name: FORMAT,
  container: "database",

  places(environment) {
    const matches = (path: string) => OWN_NAME.test(path);
    return [{ root: dataFolder(environment), matches, skips: () => true }];
  },

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined || isKilo(text, path)) return false;
    if (OWN_NAME.test(fileName(path))) return true;
    return ["session", "message", "part"].every((name) => hasTable(text, name));
  },

  read: (input) => readDatabase(input, FORMAT),
  resumeCommand: ({ id }) => commandFor("opencode --session ", id),
};

/** Kilo Code since April 2026, its command line and its extension. */
export const KILO: TranscriptSource = {
  name: "kilo",
  container: "database",

  places(environment) {
    const folder = dataFolder(environment, "kilo");
    const named = environment.variables["KILO_DB"] ?? "";
    // A relative one is in the folder.
    const isElsewhere = /^([/~]|[A-Za-z]:)/.test(named);
    const elsewhere = { root: folderOf(environment, "KILO_DB", ""), matches: () => true };
    const matches = (path: string) => KILO_NAME.test(path) || path === named;
    return [{ root: folder, matches, skips: () => true }, ...(isElsewhere ? [elsewhere] : [])];
  },

  recognise(head, path) {
    const text = databaseText(head);
    return text !== undefined && isKilo(text, path);
  },

  read: (input) => readDatabase(input, "kilo"),
  resumeCommand: ({ id }) => commandFor("kilo --session ", id),
};

/** Channels of a program have databases of their own. */
const OWN_NAME = /^opencode[^/\\]*\.db$/;
const KILO_NAME = /^kilo[^/\\]*\.db$/;

function isKilo(text: string, path: string): boolean {
  const name = fileName(path);
  return KILO_NAME.test(name) || (!OWN_NAME.test(name) && hasTable(text, "kilo_board"));
}

function hasTable(text: string, name: string): boolean {
  return new RegExp(`CREATE TABLE [\`"]?${name}[\`"]? ?\\(`).test(text);
}

function readDatabase(input: SourceInput, format: string): ImportedTranscript {
  const problems = new ProblemLog();
  // Until everything is read, the previous state is valid.
  let state = input.resume;
  let isPostponed = true;
  async function* sessions(): AsyncGenerator<ImportedSession> {
    yield* withDatabase(input.path, problems, async function* (file) {
      const database = new OpencodeDatabase(file, input.resume, problems);
      const postpone = (time: number) => database.postpone(time);
      for (const row of database.sessions()) {
        const messages = iterate(database.messages(textField(row, "id") ?? ""));
        yield toOpencodeSession(fromRow(row), messages, problems, postpone, format);
      }
      database.countUnread();
      state = database.state();
      isPostponed = database.isPostponed || file.hasFailed;
    });
  }
  const end = { state: () => state, isPostponed: () => isPostponed };
  return { sessions: sessions(), problems, ...end };
}

/** The tree of files before version 1.2. */
export const OPENCODE_FILES: TranscriptSource = {
  name: `${FORMAT}-files`,

  places(environment) {
    return [
      {
        root: joinPath(dataFolder(environment), "storage"),
        matches: (path) => /^session\/[^/]+\/ses_[^/]+\.json$/.test(path),
        matchesPart: (path) => /^(message|part)\/[^/]+\/[^/]+\.json$/.test(path),
        skips: (path) => !/^session(\/|$)/.test(path),
        // A message is written at its start and its end, so its parts need no watching.
        parts: { isIn: (folder) => /^message(\/[^/]+)?$/.test(folder), ownerOf: sessionOf },
      },
    ];
  },

  companions(path) {
    const id = fileName(path).replace(/\.json$/, "");
    return [{ folder: `../../message/${id}` }];
  },

  recognise(head) {
    const text = textOfHead(head);
    return (
      /^\s*\{(?!\s*"info")/.test(text) &&
      /"id"\s*:\s*"ses_/.test(text) &&
      /"(projectID|directory|version)"\s*:/.test(text) &&
      !/"messages"\s*:/.test(text)
    );
  },

  isText: () => true,

  read(input) {
    const problems = new ProblemLog();
    let isPostponed = false;
    const postpone = () => {
      isPostponed = true;
    };
    const sessions = readFiles(input, problems, postpone);
    return { sessions, problems, isPostponed: () => isPostponed };
  },
};

/** A message names its session, which lies in its project's folder. */
async function sessionOf(path: string, files: FileAccess): Promise<string | undefined> {
  const [, id] = /^message\/([^/]+)\/[^/]+\.json$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  for (const project of await files.list("session")) {
    const names = await files.list(`session/${project}`);
    if (names.includes(`${id}.json`)) return `session/${project}/${id}.json`;
  }
  return undefined;
}

async function* readFiles(
  input: SourceInput,
  problems: ProblemLog,
  postpone: () => void,
): AsyncGenerator<ImportedSession> {
  const session = await readJson(input.lines, problems);
  if (session === undefined) return;
  if (!isPlainObject(session) || textField(session, "id") === undefined) {
    problems.add("unexpected", "the file is JSON, but not a session");
    return;
  }
  const messages = readMessageFiles(input.files, textField(session, "id") ?? "", problems);
  yield toOpencodeSession(session, messages, problems, postpone);
}

/** A row in the form of the files. */
function fromRow(row: Fields): Fields {
  const { parent_id, project_id, time_created, time_updated, ...rest } = row;
  const isSet = ([, value]: [string, unknown]) => value !== null;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(isSet)),
    ...(parent_id === null ? {} : { parentID: parent_id }),
    projectID: project_id,
    time: { created: time_created, updated: time_updated },
  };
}

function dataFolder(environment: Environment, program: string = FORMAT): string {
  const otherwise = joinPath(environment.home, ".local/share");
  return joinPath(folderOf(environment, "XDG_DATA_HOME", otherwise), program);
}

async function* iterate<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

/**
 * Messages of a session in opencode's older tree of files: a file per message, and one per part.
 */
async function* readMessageFiles(
  files: FileAccess | undefined,
  sessionId: string,
  problems: ProblemLog,
): AsyncGenerator<OpencodeMessage> {
  if (files === undefined || !isName(sessionId)) return;
  // The session lies in storage/session/<project>.
  for (const name of await jsonNames(files, `../../message/${sessionId}`)) {
    const path = `../../message/${sessionId}/${name}`;
    const message = new MessageParts(problems);
    const data = await readObject(files, path, message, problems);
    if (data === undefined) continue;
    const id = textField(data, "id") ?? name.replace(/\.json$/, "");
    const written = [path];
    const parts = [];
    for (const part of isName(id) ? await jsonNames(files, `../../part/${id}`) : []) {
      const place = `../../part/${id}/${part}`;
      const read = await readObject(files, place, message, problems);
      if (read !== undefined) parts.push({ ...read, id: part.replace(/\.json$/, "") });
      written.push(place);
    }
    yield { id, data, parts, updatedAt: await newestOf(files, written) };
  }
}

async function newestOf(files: FileAccess, paths: readonly string[]): Promise<number> {
  const times = await Promise.all(paths.map((path) => files.modifiedAt(path)));
  return times.reduce<number>((newest, time) => Math.max(newest, time ?? 0), 0);
}

async function jsonNames(files: FileAccess, folder: string): Promise<readonly string[]> {
  return (await files.list(folder)).filter((name) => name.endsWith(".json"));
}

async function readObject(
  files: FileAccess,
  path: string,
  message: MessageParts,
  problems: ProblemLog,
): Promise<Record<string, unknown> | undefined> {
  const name = path.replace(/^[./]+/, "");
  const read = await files.readRecord(path);
  const value = read === undefined ? undefined : message.parse(read.text, name);
  if (value === undefined) problems.add("not_json", `${name} is not a JSON object, or too large`);
  else if (read?.isCut)
    problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
  return value;
}

/** An id is used as a folder name, so it must be a plain one. */
function isName(id: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(id);
}

// Queries of opencode's database.
//
// All sessions of a machine are in one file, which may have many gigabytes. A later reading queries
// only sessions written to since.

const DATA = shortColumn("data");

/** Rows may be committed this much later than their time. */
const SLACK_MS = 60_000;

class OpencodeDatabase {
  readonly #file: ForeignDatabase;
  readonly #problems: ProblemLog;
  readonly #resume: JsonObject | undefined;
  readonly #since: number = 0;
  readonly #hasTimes: boolean;
  #newest = 0;
  isPostponed = false;

  constructor(file: ForeignDatabase, resume: JsonObject | undefined, problems: ProblemLog) {
    this.#file = file;
    this.#problems = problems;
    this.#resume = resume;
    this.#hasTimes = file.has("part", "time_updated") && file.has("message", "time_updated");
    // Read first: rows written meanwhile are read again.
    for (const table of this.#hasTimes ? ["session", "message", "part"] : []) {
      const [row] = file.rows(`SELECT max(time_updated) AS newest FROM ${table}`);
      this.#newest = Math.max(this.#newest, countField(row ?? {}, "newest") ?? 0);
    }
    const since = countField(resume ?? {}, "since") ?? 0;
    // An earlier maximum means another database, or an older state of it: then everything is read.
    if (this.#hasTimes && since <= this.#newest) this.#since = since;
  }

  /** Oldest first. */
  sessions(): Iterable<Row> {
    if (!this.#file.has("session")) return [];
    const changed = ["message", "part"]
      .map((table) => `id IN (SELECT session_id FROM ${table} WHERE time_updated >= ?1)`)
      .join(" OR ");
    return this.#since === 0
      ? this.#file.rows("SELECT * FROM session ORDER BY time_created, id")
      : this.#file.rows(
          `SELECT * FROM session WHERE time_updated >= ?1 OR ${changed} ORDER BY time_created, id`,
          this.#since,
        );
  }

  /** In order: ids grow with time. */
  *messages(sessionId: string): Generator<OpencodeMessage> {
    const times = this.#file.has("message", "time_updated") ? ", time_updated" : "";
    const messages = this.#file.rows(
      `SELECT id, ${DATA}${times} FROM message WHERE session_id = ? ORDER BY time_created, id`,
      sessionId,
    );
    const ofMessage = `SELECT id, ${DATA} FROM part WHERE message_id = ? ORDER BY id`;
    for (const row of messages) {
      const id = textField(row, "id") ?? "";
      const message = new MessageParts(this.#problems);
      const data = this.#dataOf("message", row, message);
      const parts = [];
      for (const part of this.#file.rows(ofMessage, id)) {
        parts.push({ ...this.#dataOf("part", part, message), id: textField(part, "id") ?? "" });
      }
      yield { id, data, parts, updatedAt: countField(row, "time_updated") ?? 0 };
    }
  }

  /** Newer versions have a table for another form of messages, which none has been seen to fill. */
  countUnread(): void {
    if (!this.#file.has("session_message", "session_id")) return;
    const [row] = this.#file.rows(`SELECT count(*) AS count FROM session_message
      WHERE session_id NOT IN (SELECT session_id FROM message)`);
    const count = countField(row ?? {}, "count") ?? 0;
    if (count === 0) return;
    const what = `${count} message${count === 1 ? "" : "s"} of a newer form`;
    this.#problems.add("unexpected", `${what} (session_message) cannot be read yet`);
  }

  #dataOf(table: string, row: Row, message: MessageParts): Record<string, unknown> {
    const column = { table, key: "id", column: "data" };
    const text = textOfRow(this.#file, column, row, this.#problems) ?? "";
    return message.parse(text, textField(row, "id") ?? "") ?? {};
  }

  /** A row written at `time` was postponed: the next reading must include it. */
  postpone(time: number): void {
    this.#newest = Math.min(this.#newest, time);
    this.isPostponed = true;
  }

  state(): JsonObject | undefined {
    if (this.#file.hasFailed) return this.#resume;
    if (!this.#hasTimes) return undefined;
    return { since: Math.min(this.#newest, Date.now() - SLACK_MS) };
  }
}
