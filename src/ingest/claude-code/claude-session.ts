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

import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { type Fields, presentFields, textField, timeField } from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { FileAccess, ImportedEntry, ImportedSession, SourceInput } from "../source.ts";

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

/** The paths of sub-agents' files: in a folder `subagents` of their session's folder. */
interface AgentPath {
  /** The name of the session's folder. */
  readonly session: string;
  /** The file's depth below the session's folder. */
  readonly levels: number;
}

/** Undefined for any other file, whatever its upper folders are called. */
export function agentPathOf(path: string): AgentPath | undefined {
  const [, session, below = ""] = NEAR.exec(path) ?? DEEP.exec(path) ?? [];
  return session === undefined ? undefined : { session, levels: below.split(/[/\\]/).length - 1 };
}

const NEAR = /(?:^|[/\\])([^/\\]+)[/\\]subagents([/\\][^/\\]+)$/;

/**
 * Groups of sub-agents have folders of their own; then the session must be identified by its id.
 */
const DEEP = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[/\\]subagents((?:[/\\][^/\\]+){2,3})$/i;

// The title of a session. The user's own title takes precedence, then a model's, then a summary. A
// summary names its last line, and may be in another session's file: it is this session's title
// only if that line is in this file.

/** The field that has the title, and its rank. */
const TITLES: Readonly<Record<string, readonly [field: string, rank: number]>> = {
  summary: ["summary", 1],
  "ai-title": ["aiTitle", 2],
  "custom-title": ["customTitle", 3],
};

/** The limit of waiting summaries: old files begin with those of every other session. */
const WAITING = 1000;

export class ClaudeTitle {
  #name: string | undefined;
  #rank = 0;
  #count = 0;
  /** Summaries whose lines have not come yet. */
  readonly #waiting = new Map<string, string>();

  constructor(state?: JsonValue) {
    if (!isPlainObject(state)) return;
    this.#name = textField(state, "name");
    this.#rank = Number(state["rank"] ?? 0);
    this.#count = Number(state["count"] ?? 0);
  }

  state(): JsonValue {
    const { length } = this.#name ?? "";
    const name = length === 0 ? {} : { name: this.#name ?? "" };
    return { ...name, rank: this.#rank, count: this.#count };
  }

  /** The line's title, if it takes precedence. `id` is the line's own. */
  of(record: Fields, id: string, has: (uuid: string) => boolean): ImportedEntry | undefined {
    const awaited = this.#waiting.get(id);
    if (awaited !== undefined) {
      this.#waiting.delete(id);
      return this.#entry(awaited, 1, record);
    }
    const { type } = record;
    const rule = typeof type === "string" && Object.hasOwn(TITLES, type) ? TITLES[type] : undefined;
    if (rule === undefined) return undefined;
    const [field, rank] = rule;
    const name = textField(record, field)?.trim();
    if (name === undefined || name === "") return undefined;
    const about = textField(record, "leafUuid");
    if (rank === 1 && about !== undefined && !has(about)) {
      if (this.#waiting.size < WAITING) this.#waiting.set(about, name);
      return undefined;
    }
    return this.#entry(name, rank, record);
  }

  #entry(name: string, rank: number, record: Fields): ImportedEntry | undefined {
    if (rank < this.#rank || name === this.#name) return undefined;
    this.#name = name;
    this.#rank = rank;
    return {
      sourceId: `title-${++this.#count}-${name.slice(0, 40)}`,
      kind: "session_info",
      role: null,
      actor: null,
      blocks: [],
      data: { name },
      usage: null,
      model: null,
      createdAt: timeField(record, "timestamp"),
      metadata: toSourceMetadata({ format: FORMAT, id: null }),
    };
  }
}
