/**
 * The session fields of a file of Claude Code, read before its first entry is yielded.
 *
 * There is no header: id, folder and branch are on the lines themselves, after snapshots and
 * summaries that name none. So the reader looks ahead until a line names a folder.
 *
 * The id is the first `sessionId`; the file's name only if there is none. Older versions resumed a
 * session into a new file that begins with the old lines: that file continues the old session, as a
 * branch of its tree. Sub-agents' files carry their parent's id: they are `<parent>/agent-<id>`.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { type Fields, presentFields, textField, timeField } from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { FileAccess, ImportedSession, SourceInput } from "../source.ts";
import { agentPathOf } from "./claude-agent-path.ts";

export const FORMAT = "claude-code";

export interface ClaudeHeader {
  readonly id: string | null;
  /** Whether the lines name the id. */
  readonly isNamed: boolean;
  readonly cwd: string | null;
  readonly gitBranch: string | null;
  readonly startedAt: number | null;
  readonly parentSession: string | null;
  /** The file belongs to one sub-agent: its sidechain is the conversation. */
  readonly isAgent: boolean;
  readonly title: string | null;
  /** Fields that nearly every line repeats: an entry keeps only different ones. */
  readonly common: JsonObject;
  /** The companion file of a sub-agent. */
  readonly agent: JsonObject;
  /** The mark of a file exported from our own session. Absent in older state. */
  readonly copyMark?: JsonObject;
}

/** Fields that are equal on most lines of a file. */
const COMMON = ["sessionId", "cwd", "gitBranch", "version", "userType", "entrypoint", "agentId"];

/** The look-ahead. Old files begin with a summary line for each session of the project. */
const AHEAD_RECORDS = 1000;
const AHEAD_LENGTH = 8 * 1024 * 1024;

/** `length` is the number of characters of their lines. */
export function isHeaderComplete(read: readonly JsonRecord[], length: number): boolean {
  const last = read.at(-1)?.record;
  if (read.length >= AHEAD_RECORDS || length > AHEAD_LENGTH) return true;
  return last !== undefined && (textField(last, "cwd") ?? "") !== "";
}

export async function readHeader(
  read: readonly JsonRecord[],
  { path, files }: Pick<SourceInput, "path" | "files">,
): Promise<ClaudeHeader> {
  const records = read.map(({ record }) => record);
  const first = (name: string) =>
    records.map((record) => textField(record, name)).find((value) => value) ?? null;
  const name = /([^/\\]*?)(?:\.jsonl)?(?:\.(?:gz|zst))?$/.exec(path)?.[1] ?? "";
  const agentId = agentOf(name, records);
  const sessionId = first("sessionId");
  const parent = sessionId ?? agentPathOf(path)?.session ?? null;
  const isAgent = agentId !== undefined;
  const agent = isAgent ? await readAgent(name, files) : {};
  const fork = records.map((record) => record["forkedFrom"]).find(isPlainObject);
  const mark = markField(records.find((record) => textField(record, "uuid")) ?? {});
  return {
    id: (isAgent && parent !== null ? `${parent}/agent-${agentId}` : (sessionId ?? name)) || null,
    isNamed: sessionId !== null,
    cwd: first("cwd"),
    gitBranch: first("gitBranch"),
    isAgent,
    agent,
    startedAt:
      records.map((record) => timeField(record, "timestamp")).find((t) => t !== null) ?? null,
    parentSession: isAgent ? parent : (textField(fork ?? {}, "sessionId") ?? null),
    title: textField(agent, "description") || null,
    ...(mark === undefined ? {} : { copyMark: mark }),
    common: presentFields(Object.fromEntries(COMMON.map((key) => [key, first(key) ?? undefined]))),
  };
}

export function toSession(
  header: ClaudeHeader,
): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const { id, title, cwd, gitBranch, startedAt, parentSession, common, agent } = header;
  const { cwd: _, gitBranch: __, ...rest } = common;
  return {
    source: FORMAT,
    agent: FORMAT,
    id,
    title,
    cwd,
    gitBranch,
    startedAt,
    parentSession,
    metadata: toSourceMetadata({
      format: FORMAT,
      id,
      ...presentFields({
        fields: { ...rest, ...presentFields({ agent, [COPY_MARK]: header.copyMark }) },
      }),
    }),
  };
}

/** The id of the file's sub-agent. Through a pipe, the lines must name it. */
function agentOf(name: string, records: readonly Fields[]): string | undefined {
  const [, named] = /^agent-(.+)$/.exec(name) ?? [];
  if (named !== undefined || name !== "") return named;
  const line = records.find((record) => record["isSidechain"] !== undefined);
  return line?.["isSidechain"] === true ? textField(line, "agentId") : undefined;
}

/** A description is one line; longer files are skipped. */
const MAX_AGENT_BYTES = 64 * 1024;

async function readAgent(name: string, files: FileAccess | undefined): Promise<JsonObject> {
  const text = await files?.readText(`${name}.meta.json`, MAX_AGENT_BYTES);
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return isPlainObject(value) ? (value as JsonObject) : {};
  } catch {
    // A damaged companion file does not affect the transcript.
    return {};
  }
}
