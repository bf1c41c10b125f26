/**
 * Sessions of openclaw and its relatives: files in pi's format for each of a gateway's agents, and
 * beside them `sessions.json` with each session's peer.
 */

import { zstdDecompressSync } from "node:zlib";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { SOURCE_KEY } from "../../transcript/source-fields.ts";
import { mapBatches } from "../batches.ts";
import { countField, type Fields, objectField, otherFields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { type Line, MAX_LINE_BYTES } from "../lines.ts";
import { cutRecord } from "../long/long-line.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { hasPiHeader, isGatewayPath, readPiFile } from "../pi-format/pi-file.ts";
import type { ProblemLog } from "../problems.ts";
import type { Environment, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { boundedColumn, type ForeignDatabase, type Row } from "../sqlite-file.ts";

export const FORMAT = "openclaw";

/** A longer list is not worth reading for a title. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

export const OPENCLAW: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    return agentFolders(environment).map((root) => ({
      root,
      matches: (path) => /^[^/]+\/sessions\/[^/]+\.jsonl(\.(deleted|reset)\.[^/]+)?$/.test(path),
      skips: (path) => !/^[^/]+(\/sessions)?$/.test(path),
    }));
  },

  recognise: (head, path) => hasPiHeader(head) && isGatewayPath(path),

  read: (input) => readPiFile(input, (session) => toSession(session, input)),
};

async function toSession(session: ImportedSession, input: SourceInput): Promise<ImportedSession> {
  const { path } = input;
  const stem = fileName(path).replace(/\.jsonl[\s\S]*/, "");
  const agent = isGatewayPath(path) ? folderName(path, 2) : FORMAT;
  // The topics of a group share their session's id: the file's name distinguishes them.
  const id = stem.includes("-topic-") ? stem : (session.id ?? (stem === "" ? null : stem));
  const list = await readList(input);
  const [key, entry] = findEntry(list, session.id ?? id ?? "", fileName(path)) ?? [];
  const parent = list[textField(entry ?? {}, "spawnedBy") ?? ""];
  return {
    ...session,
    source: FORMAT,
    agent: FORMAT,
    id,
    entries: entriesOf(session, agent),
    title: entry === undefined ? null : titleOf(entry),
    parentSession:
      session.parentSession ??
      (isPlainObject(parent) ? textField(parent, "sessionId") : null) ??
      null,
    metadata: withGateway(session.metadata, agent, key, entry),
    ...(/\.jsonl\.(deleted|reset)\./.test(path) ? {} : toRoute(key, entry)),
  };
}

async function readList({ files }: SourceInput): Promise<Fields> {
  const text = await files?.readText("sessions.json", MAX_LIST_BYTES);
  const list = text === undefined ? undefined : parseJson(text);
  return isPlainObject(list) ? list : {};
}

function findEntry(list: Fields, id: string, file: string): [string, Fields] | undefined {
  const named: [string, Fields][] = Object.entries(list).flatMap(([key, entry]) =>
    isPlainObject(entry) ? [[key, entry]] : [],
  );
  return (
    named.find(([, entry]) => fileName(textField(entry, "sessionFile") ?? "") === file) ??
    named.find(([, entry]) => textField(entry, "sessionId") === id)
  );
}

/** The folders that hold a folder for each agent. */
export function agentFolders(environment: Environment): string[] {
  const { home } = environment;
  const own = folderOf(environment, "OPENCLAW_STATE_DIR", joinPath(home, ".openclaw"));
  // Its earlier name, and a derived product.
  const roots = [own, joinPath(home, ".clawdbot"), joinPath(home, ".coderclaw")];
  return roots.map((root) => joinPath(root, "agents"));
}

/** The entries of a session in pi's format, with the agent as the model's actor. */
export function entriesOf(session: ImportedSession, agent: string): ImportedSession["entries"] {
  return mapBatches(session.entries, function* (batch) {
    for (const made of batch) yield made.actor === "pi" ? { ...made, actor: agent } : made;
  });
}

/** The routing key names the agent, the channel and the peer. */
export function withGateway(
  metadata: JsonObject,
  agent: string,
  key: string | undefined,
  entry: Fields | undefined,
): JsonObject {
  const source = metadata[SOURCE_KEY];
  if (!isPlainObject(source)) return metadata;
  const told = ["channel", "chatType", "groupId", "groupChannel", "space", "origin"].flatMap(
    (name) => (entry?.[name] === undefined ? [] : [[name, entry[name]] as const]),
  );
  const gateway = {
    agent,
    ...(key === undefined ? {} : { key }),
    ...(Object.fromEntries(told) as JsonObject),
  };
  return { ...metadata, [SOURCE_KEY]: source as JsonObject, gateway };
}

/** The session's current route, if its gateway names one. */
export function toRoute(
  key: string | undefined,
  entry: Fields | undefined,
): Pick<ImportedSession, "route"> {
  if (key === undefined || key === "" || entry === undefined) return {};
  return { route: { key, fields: otherFields(entry, ["sessionId"]) } };
}

export function titleOf(entry: Fields): string | null {
  const origin = objectField(entry, "origin");
  const names = [
    ...["label", "displayName", "subject"].map((name) => textField(entry, name)),
    textField(origin, "label"),
  ];
  return names.find((name) => name !== undefined && name !== "") ?? null;
}

// The records of a session in openclaw's database.
//
// Since version 2026.9.6 a large record is compressed in another column, with its size beside it.

const TABLE = "transcript_events";

export function hasRecords(database: ForeignDatabase): boolean {
  return database.has(TABLE, "event_json");
}

/** In order, one in memory at a time. Unreadable ones are counted and skipped. */
export async function* storedLines(
  database: ForeignDatabase,
  id: string,
  problems: ProblemLog,
): AsyncGenerator<Line> {
  if (!hasRecords(database)) return;
  const columns = ["event_json", "event_zstd", "event_utf8_bytes"];
  const known = columns.filter((column) => database.has(TABLE, column));
  const rows = database.rows(
    `SELECT ${known.map(boundedColumn).join(", ")} FROM transcript_events WHERE session_id = ? ORDER BY seq`,
    id,
  );
  let number = 0;
  for (const row of rows) {
    number++;
    const stored = textField(row, "event_json") ?? unpackRecord(row);
    const text = stored === undefined ? "" : cutRecord(stored, `record ${number}`, problems);
    if (stored !== undefined) yield { number, offset: 0, text, ended: true };
    else {
      const message = `a record of the session ${id} is empty, too large, or cannot be unpacked`;
      problems.add("unreadable", message, number);
    }
  }
}

/** At most its declared size, and at most a line's limit. */
function unpackRecord(row: Row): string | undefined {
  const { event_zstd: packed } = row;
  if (!(packed instanceof Uint8Array)) return undefined;
  const told = countField(row, "event_utf8_bytes") ?? MAX_LINE_BYTES;
  try {
    const maxOutputLength = Math.max(1, Math.min(told, MAX_LINE_BYTES));
    return zstdDecompressSync(packed, { maxOutputLength }).toString("utf8");
  } catch {
    // Damaged, or larger than declared: the caller reports it.
    return undefined;
  }
}
