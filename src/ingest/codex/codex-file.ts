/**
 * Reads a file of Codex CLI.
 *
 * Records have no ids: line and time identify an entry. They are consecutive, unless the user has
 * undone turns. A forked session, and a sub-agent's, begin with a copy of another session's turns;
 * these are kept, so that the session is complete, but search does not find them again, and their
 * usage is not counted again.
 */

import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { LineCounter } from "../lines.ts";
import { normalizeRemote } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import { isSnapshot } from "../snapshots.ts";
import { type ImportedEntry, type ImportedSession, UNREADABLE_SUMMARY } from "../source.ts";
import {
  isCopiedItem,
  isCopyOf,
  isIgnoredEvent,
  toBlocks,
  toItem,
  USAGE_RECORD,
} from "./codex-items.ts";
import { CodexUsage } from "./codex-usage.ts";

export const FORMAT = "codex";

/** The mark of a line exported from our own session. */
function copyMark(record: Fields): JsonObject {
  const mark = markField(record);
  return mark === undefined ? {} : { [COPY_MARK]: mark };
}

/** Turns that the user may undo later, and calls whose results may come later. */
const TURNS = 100;
const OPEN_CALLS = 100;

type Draft = Partial<ImportedEntry> & Pick<ImportedEntry, "kind">;

export class CodexFile {
  readonly #header: CodexHeader;
  readonly #problems: ProblemLog;
  readonly #usage: CodexUsage;
  readonly #toolNames: RecentMap<string, string>;
  /** The parents of the user's turns. */
  readonly #turns: (string | null)[];
  readonly #lines: LineCounter;
  #line = 0;
  /** Entries of the current records. */
  #given: ImportedEntry[] = [];
  #last: string | null;
  #model: string | null;
  /** Whether the turn is a copy from the parent session. */
  #isCopied: boolean;
  /** Whether the file has items: then events only repeat them. Some versions wrote only events. */
  #hasItems: boolean;
  /** Whether the file's own header, or something after it, was met. */
  #hasBegun: boolean;

  constructor(
    header: CodexHeader,
    problems: ProblemLog,
    lines: LineCounter,
    state: JsonObject = {},
  ) {
    this.#header = header;
    this.#problems = problems;
    this.#usage = new CodexUsage(state["usage"]);
    const calls = (state["calls"] ?? []) as unknown as [string, string][];
    this.#toolNames = new RecentMap(KEPT_CALLS, calls);
    this.#turns = [...((state["turns"] ?? []) as (string | null)[])];
    this.#lines = lines;
    this.#last = (state["last"] ?? null) as string | null;
    this.#model = (state["model"] ?? null) as string | null;
    this.#isCopied = state["isCopied"] === true;
    this.#hasBegun = state["hasBegun"] === true;
    this.#hasItems = state["hasItems"] === true;
  }

  /** Valid after the last record. */
  state(): JsonObject {
    return {
      usage: this.#usage.state(),
      calls: [...this.#toolNames].slice(-OPEN_CALLS),
      turns: this.#turns.slice(-TURNS),
      last: this.#last,
      model: this.#model,
      isCopied: this.#isCopied,
      hasBegun: this.#hasBegun,
      hasItems: this.#hasItems,
    };
  }

  async *read(
    ahead: readonly JsonRecord[],
    rest: AsyncIterable<Iterable<JsonRecord>>,
  ): AsyncGenerator<Iterable<ImportedEntry>> {
    yield this.#batch(ahead);
    for await (const records of rest) yield this.#batch(records);
    yield this.#usage.end();
  }

  /** Whether events only repeat items. */
  get hasItems(): boolean {
    return this.#hasItems;
  }

  #batch(records: Iterable<JsonRecord>): ImportedEntry[] {
    this.#given = [];
    for (const record of records) this.#record(record);
    return this.#given;
  }

  #record({ record, line }: JsonRecord): void {
    if (!this.#lines.take(line)) return;
    this.#line = line;
    const { type, payload } = record;
    if (headerOf(record) !== undefined) {
      // A second header belongs to the session whose turns are copied.
      if (this.#hasBegun) this.#problems.ignore("session_meta");
      this.#hasBegun = true;
    } else if (isSnapshot(type)) this.#problems.ignore(type);
    else if (record["record_type"] !== undefined) this.#problems.ignore("record_type");
    else if (!isPlainObject(payload)) this.#item(record, record, line);
    else if (type === "response_item") {
      this.#hasItems = true;
      this.#item(record, payload, line);
    } else if (type === "event_msg") this.#event(record, payload);
    else if (type === "turn_context") this.#turn(record, payload);
    else if (type === "compacted") this.#compacted(record, payload);
    else if (type === USAGE_RECORD) this.#problems.ignore(USAGE_RECORD);
    else this.#custom(record, nameOf(type), payload as JsonObject);
  }

  #item(record: Fields, item: Fields, line: number): void {
    const type = textField(item, "type");
    if (type === undefined) {
      this.#problems.add("unexpected", "a record without a type was kept as custom data", line);
    } else if (type === "ghost_snapshot") {
      this.#problems.ignore(type);
      return;
    }
    const mapped = toItem(item, this.#toolNames);
    if (mapped === undefined) {
      if (type === "message") {
        this.#problems.add("unexpected", "a message without content was kept as custom data", line);
      }
      this.#custom(record, type ?? "unknown", otherFields(item, ["type"]));
      return;
    }
    const { role, blocks, injected, fields } = mapped;
    if (role === "user" && !injected) this.#turns.push(this.#last);
    if (this.#turns.length > 2 * TURNS) this.#turns.splice(0, TURNS);
    const [first] = blocks;
    if (first?.type === "tool_result") this.#toolNames.delete(first.toolUseId);
    if (first?.type === "tool_use") this.#toolNames.set(first.id, first.name);
    const isAnswer = role === "assistant";
    const tool = first?.type === "tool_result" ? (first.toolName ?? null) : null;
    this.#give(record, {
      kind: "message",
      role,
      blocks,
      actor: isAnswer ? FORMAT : tool,
      model: isAnswer ? this.#model : null,
      metadata: {
        ...toSourceMetadata({
          format: FORMAT,
          id: textField(item, "id") ?? null,
          ...presentFields({
            fields: { ...otherFields(fields, ["id", "timestamp"]), ...copyMark(record) },
          }),
        }),
        ...(injected || this.#isCopied ? { injected: true } : {}),
        ...(this.#isCopied ? { copied: true } : {}),
      },
    });
  }

  #event(record: Fields, event: Fields): void {
    const type = textField(event, "type") ?? "unknown";
    if (type === "task_started") this.#beginTurn(event);
    if (type === "token_count") {
      const usage = this.#usage.report(event["info"], !this.#isCopied);
      if (usage !== undefined) this.#custom(record, type, {}, usage);
    } else if (type === "thread_name_updated") {
      const name = textField(event, "thread_name") ?? textField(event, "name") ?? "";
      if (name !== "") this.#give(record, { kind: "session_info", data: { name } });
    } else if (type === "thread_rolled_back") {
      this.#custom(record, type, otherFields(event, ["type"]));
      this.#rollBack(countField(event, "num_turns") ?? 0);
    } else if (!this.#hasItems && /^(user|agent)_message$/.test(type)) {
      const role = type === "user_message" ? "user" : "assistant";
      const content = [{ type: "text", text: textField(event, "message") ?? "" }];
      this.#item(record, { type: "message", role, content }, 0);
    } else if (type === "item_completed") this.#completed(record, event);
    else if (isIgnoredEvent(type)) this.#problems.ignore(`event_msg:${type}`);
    else this.#custom(record, type, otherFields(event, ["type"]));
  }

  /** Processes the event that newer versions write beside each item. */
  #completed(record: Fields, event: Fields): void {
    const item = objectField(event, "item");
    const type = textField(item, "type") ?? "";
    if (!this.#hasItems && /^(User|Agent)Message$/.test(type)) {
      const role = type === "UserMessage" ? "user" : "assistant";
      const content = Array.isArray(item["content"]) ? item["content"] : [];
      // The type of a text has two spellings there.
      const texts = content.map((part) =>
        isPlainObject(part) && part["type"] === "Text" ? { ...part, type: "text" } : part,
      );
      this.#item(record, { type: "message", role, content: texts }, 0);
    } else if (isCopiedItem(type)) this.#problems.ignore("event_msg:item_completed");
    else this.#custom(record, "item_completed", otherFields(event, ["type"]));
  }

  #turn(record: Fields, context: Fields): void {
    this.#beginTurn(context);
    this.#problems.ignore("turn_context");
    const model = textField(context, "model") || this.#model;
    if (model === this.#model) return;
    this.#model = model;
    const { provider } = this.#header;
    const data = { ...(provider === null ? {} : { provider }), modelId: model };
    this.#give(record, { kind: "model_change", data });
  }

  /** The replacement history is a summary, and copies of earlier messages. */
  #compacted(record: Fields, payload: Fields): void {
    const { replacement_history: replacement } = payload;
    const items = Array.isArray(replacement) ? replacement : [];
    const sealed = items.filter(
      (item) => isPlainObject(item) && typeof item["encrypted_content"] === "string",
    );
    const text = textField(payload, "message") || textField(payload, "summary") || "";
    const missing =
      sealed.length > 0
        ? "The summary is sealed: only its provider can read it."
        : "The file holds no summary of what is before.";
    const readable = text === "" ? missing : text;
    this.#give(record, {
      kind: "compaction",
      blocks: [
        ...(toBlocks(readable) ?? []),
        ...sealed.map((item) => ({
          type: "opaque" as const,
          provider: "openai",
          json: JSON.stringify(item),
        })),
      ],
      data: {
        firstKeptEntryId: null,
        tokensBefore: null,
        ...(text === "" ? { [UNREADABLE_SUMMARY]: true } : {}),
        ...(items.length === 0 ? {} : { replacementItems: items.length }),
      },
      references: ["firstKeptEntryId"],
      metadata: toSourceMetadata({
        format: FORMAT,
        id: null,
        ...presentFields({
          fields: otherFields(payload, ["message", "summary", "replacement_history"]),
        }),
      }),
    });
  }

  #custom(record: Fields, type: string, data: JsonObject, usage: Usage | null = null): void {
    this.#give(record, { kind: "custom", data: { type: `codex:${type}`, data }, usage });
  }

  #give(record: Fields, draft: Draft): void {
    const createdAt = timeField(record, "timestamp");
    // The time distinguishes records with the same line in two files of one session.
    const sourceId = `record-${this.#line}${createdAt === null ? "" : `-${createdAt}`}`;
    const { references } = draft;
    const entry: ImportedEntry = {
      sourceId,
      parentSourceId: this.#last,
      kind: draft.kind,
      role: draft.role ?? null,
      actor: draft.actor ?? null,
      blocks: draft.blocks ?? [],
      data: draft.data ?? null,
      ...(references === undefined ? undefined : { references }),
      usage: draft.usage ?? null,
      model: draft.model ?? null,
      createdAt,
      metadata: draft.metadata ?? toSourceMetadata({ format: FORMAT, id: null }),
    };
    if (draft.kind === "message" || draft.kind === "compaction") this.#last = sourceId;
    this.#usage.add(entry, this.#given);
  }

  #beginTurn(turn: Fields): void {
    const { parentSession, id } = this.#header;
    if (parentSession === null) return;
    this.#isCopied = isCopyOf(textField(turn, "turn_id"), id);
  }

  #rollBack(turns: number): void {
    if (turns === 0) return;
    const [before] = this.#turns.splice(Math.max(0, this.#turns.length - turns));
    if (before !== undefined) this.#last = before;
  }
}

// The session fields of a file of Codex CLI. The first line is its header: a `session_meta` record,
// or in old files the bare header. If it lacks the folder, the first messages name it.

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
function headerOf(record: Fields): Fields | undefined {
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
