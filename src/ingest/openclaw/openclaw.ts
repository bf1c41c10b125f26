/**
 * Sessions of openclaw and its relatives: files in pi's format for each of a gateway's agents, and
 * beside them `sessions.json` with each session's peer.
 */

import { isPlainObject } from "../../model/json.ts";
import { type Fields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { fileName, folderName } from "../machine-paths.ts";
import { hasPiHeader, isGatewayPath, readPiFile } from "../pi-format/pi-file.ts";
import type { ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import {
  agentFolders,
  entriesOf,
  FORMAT,
  titleOf,
  toRoute,
  withGateway,
} from "./openclaw-session.ts";

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
