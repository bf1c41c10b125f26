/**
 * The session fields of a file of Codex CLI. The first line is its header: a `session_meta` record,
 * or in old files the bare header. If it lacks the folder, the first messages name it.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import {
  type Fields,
  objectField,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import { normalizeRemote } from "../repository-name.ts";
import type { ImportedSession } from "../source.ts";

export const FORMAT = "codex";

export interface CodexHeader {
  readonly id: string | null;
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly startedAt: number | null;
  readonly parentSession: string | null;
  readonly provider: string | null;
  /** Absent in an older resume state. */
  readonly repo?: string | null;
  readonly fields: JsonObject;
  /** False if the file begins without one. */
  readonly isThere: boolean;
}

/** The number of records searched for the folder. */
const AHEAD_RECORDS = 10;

export function isHeaderComplete(read: readonly JsonRecord[]): boolean {
  if (read.length >= AHEAD_RECORDS) return true;
  const [first] = read;
  return first !== undefined && textField(headerOf(first.record) ?? {}, "cwd") !== undefined;
}

/** The fields of a header; undefined for other records. */
export function headerOf(record: Fields): Fields | undefined {
  const { type, payload } = record;
  if (type === "session_meta") return isPlainObject(payload) ? payload : {};
  const isBare = type === undefined && record["record_type"] === undefined;
  return isBare && typeof record["id"] === "string" ? record : undefined;
}

export function readHeader(read: readonly JsonRecord[], path: string): CodexHeader {
  const [first] = read;
  const found = first === undefined ? undefined : headerOf(first.record);
  const header = found ?? {};
  const git = objectField(header, "git");
  const times = read.map(({ record }) => timeField(record, "timestamp"));
  return {
    id: textField(header, "id") || textField(header, "session_id") || idOf(path),
    cwd: textField(header, "cwd") || folderOf(read),
    gitBranch: textField(git, "branch") || null,
    startedAt: timeField(header, "timestamp") ?? times.find((time) => time !== null) ?? null,
    parentSession: parentOf(header),
    provider: textField(header, "model_provider") ?? null,
    repo: repositoryOf(git),
    // The agent's instructions are the same in every session, and longer than most.
    fields: otherFields(header, ["id", "session_id", "cwd", "timestamp", "base_instructions"]),
    isThere: found !== undefined,
  };
}

export function toSession(
  header: CodexHeader,
): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const { id, cwd, gitBranch, startedAt, parentSession, fields } = header;
  return {
    source: FORMAT,
    agent: FORMAT,
    id,
    title: null,
    cwd,
    gitBranch,
    startedAt,
    parentSession,
    ...(header.repo == null ? {} : { repo: header.repo }),
    metadata: toSourceMetadata({ format: FORMAT, id, ...presentFields({ fields }) }),
  };
}

function repositoryOf(git: Fields): string | null {
  const url = textField(git, "repository_url")?.trim();
  return url ? normalizeRemote(url) : null;
}

/** The thread that started or forked this one. */
function parentOf(header: Fields): string | null {
  const source = objectField(header, "source");
  const agent = objectField(source, "subagent");
  const spawn = objectField(agent, "thread_spawn");
  const started = textField(spawn, "parent_thread_id") || textField(header, "parent_thread_id");
  return started || textField(header, "forked_from_id") || null;
}

/** File names contain the time and the session's id. */
function idOf(path: string): string | null {
  const name = /([^/\\]*?)(?:\.jsonl?)?(?:\.(?:gz|zst))?$/.exec(path)?.[1] ?? "";
  const [, id] = /^rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(name) ?? [];
  return (id ?? name) || null;
}

const FOLDER = /<cwd>([^<]+)<\/cwd>|Current working directory: ([^\n]+)/;

function folderOf(read: readonly JsonRecord[]): string | null {
  for (const { record } of read) {
    const { payload } = record;
    const item = isPlainObject(payload) ? payload : record;
    const named = record["type"] === "turn_context" ? textField(item, "cwd") : undefined;
    if (named) return named;
    const content = item["type"] === "message" ? item["content"] : undefined;
    for (const part of Array.isArray(content) ? content : []) {
      const text = isPlainObject(part) ? (textField(part, "text") ?? "") : "";
      const [, tagged, told] = FOLDER.exec(text) ?? [];
      const folder = tagged ?? told;
      if (folder !== undefined) return folder.trim();
    }
  }
  return null;
}
