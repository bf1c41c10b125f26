/**
 * Sessions of openclaw and its relatives: files in pi's format for each of a gateway's agents, and
 * beside them `sessions.json`, which says whom each was with.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { SOURCE_KEY } from "../../transcript/source-fields.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { hasPiHeader, isGatewayPath, readPiFile } from "../pi-format/pi-file.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "openclaw";

/** The list of sessions can grow without end; a title is not worth more. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

export const OPENCLAW: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const { home } = environment;
    const own = folderOf(environment, "OPENCLAW_STATE_DIR", joinPath(home, ".openclaw"));
    // Its earlier name, and a product that was made of it.
    const roots = [own, joinPath(home, ".clawdbot"), joinPath(home, ".coderclaw")];
    return roots.map((root) => ({
      root: joinPath(root, "agents"),
      matches: (path) => /^[^/]+\/sessions\/[^/]+\.jsonl(\.(deleted|reset)\.[^/]+)?$/.test(path),
      skips: (path) => !/^[^/]+(\/sessions)?$/.test(path),
    }));
  },

  recognise: (head, path) => hasPiHeader(head) && isGatewayPath(path),

  read: (input) => readPiFile(input, (session) => toSession(session, input)),
};

async function toSession(session: ImportedSession, input: SourceInput): Promise<ImportedSession> {
  const { path } = input;
  const stem = fileName(path).replace(/\.jsonl.*$/, "");
  const agent = isGatewayPath(path) ? folderName(path, 2) : FORMAT;
  // The topics of a group share the id of its session: there the file's name tells them apart.
  const id = stem.includes("-topic-") ? stem : (session.id ?? (stem === "" ? null : stem));
  const list = await readList(input);
  const [key, entry] = findEntry(list, session.id ?? id ?? "", fileName(path)) ?? [];
  const parent = list[textField(entry ?? {}, "spawnedBy") ?? ""];
  async function* entries(): AsyncGenerator<ImportedEntry> {
    for await (const made of session.entries) {
      yield made.actor === "pi" ? { ...made, actor: agent } : made;
    }
  }
  return {
    ...session,
    ...{ source: FORMAT, agent: FORMAT, id, entries: entries() },
    title: entry === undefined ? null : titleOf(entry),
    parentSession:
      session.parentSession ??
      (isPlainObject(parent) ? textField(parent, "sessionId") : null) ??
      null,
    metadata: withList(session.metadata, agent, key, entry),
  };
}

/** The routing key says the agent, the channel and the peer. */
function withList(
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
    ...{ agent, ...(key === undefined ? {} : { key }) },
    ...(Object.fromEntries(told) as JsonObject),
  };
  return { ...metadata, [SOURCE_KEY]: source as JsonObject, gateway };
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

function titleOf(entry: Fields): string | null {
  const origin: Fields = isPlainObject(entry["origin"]) ? entry["origin"] : {};
  const names = [
    ...["label", "displayName", "subject"].map((name) => textField(entry, name)),
    textField(origin, "label"),
  ];
  return names.find((name) => name !== undefined && name !== "") ?? null;
}
