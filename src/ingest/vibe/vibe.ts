/**
 * Sessions of Mistral Vibe: a folder with `messages.jsonl`, messages in OpenAI's form, and
 * `meta.json`, which has the session's folder, title, model and total tokens.
 *
 * Format taken from mistralai/mistral-vibe (`core/session/session_logger.py`, `core/types.py`).
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  type EntryDraft,
  KnownIds,
  toContentBlocks,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
} from "../drafts.ts";
import {
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  resultBlock,
  textField,
  thinkingBlock,
  timeField,
} from "../fields.ts";
import { recordsOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { KnownSession, readRecords } from "../jsonl.ts";
import { commandFor, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "vibe";

/** It has the descriptions of all tools. */
const MAX_META_BYTES = 8 * 1024 * 1024;

export const VIBE: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      root: joinPath(
        folderOf(environment, "VIBE_HOME", joinPath(environment.home, ".vibe")),
        "logs/session",
      ),
      matches: (path) => /^[^/]+\/messages\.jsonl$/.test(path),
      matchesPart: (path) => /^[^/]+\/meta\.json$/.test(path),
      skips: (path) => path.includes("/"),
    },
  ],

  recognise(head) {
    for (const record of recordsOfHead(head)) {
      const isOwn = ROLES.includes(record["role"]) && typeof record["message_id"] === "string";
      return isOwn && !("type" in record) && !("parts" in record);
    }
    return false;
  },

  read(input) {
    const problems = new ProblemLog();
    const messages = new VibeMessages(problems, input.resume);
    const known = new KnownSession(input.resume, messages);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const meta = await readMeta(input);
      messages.model = textField(meta, "model") ?? modelOf(meta);
      known.fields = { format: FORMAT };
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for await (const { record, line } of readRecords(known.lines.read(input.lines), problems)) {
          yield* messages.read(record, line);
        }
      }
      yield { ...toSession(meta, input.path), entries: entries(), problems };
    }
    return { sessions: sessions(), problems, state: () => known.lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("vibe --resume ", id),
};

const ROLES: readonly unknown[] = ["user", "assistant", "tool"];

async function readMeta({ files }: SourceInput): Promise<Fields> {
  const text = await files?.readText("meta.json", MAX_META_BYTES);
  const meta = text === undefined ? undefined : parseJson(text);
  return isPlainObject(meta) ? meta : {};
}

function modelOf(meta: Fields): string | null {
  return textField(objectField(meta, "config"), "active_model") ?? null;
}

function toSession(meta: Fields, path: string): ReturnType<typeof toImportedSession> {
  const { stats } = meta;
  const cwd = textField(objectField(meta, "environment"), "working_directory");
  return toImportedSession(FORMAT, {
    id: textField(meta, "session_id") || folderName(path) || null,
    title: textField(meta, "title") || null,
    cwd: textField(meta, "working_dir") || cwd || null,
    gitBranch: textField(meta, "git_branch") || null,
    startedAt: timeField(meta, "start_time"),
    parentSession: textField(meta, "parent_session_id") || null,
    fields: isPlainObject(stats) ? { stats: stats as JsonObject } : {},
  });
}

const KNOWN = [
  "role",
  "content",
  "message_id",
  "reasoning_content",
  "reasoning_signature",
  "reasoning_message_id",
  "tool_calls",
  "tool_call_id",
  "name",
  "model",
  "injected",
];

class VibeMessages {
  model: string | null = null;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #names: RecentMap<string, string>;

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const { names }: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    const kept = (Array.isArray(names) ? names : []) as [string, string][];
    this.#names = new RecentMap(KEPT_CALLS, kept);
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return { names: [...this.#names].slice(-64) as unknown as JsonValue };
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const call = textField(record, "tool_call_id");
    const sourceId =
      textField(record, "message_id") ?? (call === undefined ? `line-${line}` : `result-${call}`);
    if (!this.#ids.isNew(sourceId, record, line)) return;
    const draft = this.#draft(record, sourceId);
    if (draft !== undefined) {
      yield toImportedEntry(FORMAT, draft);
      return;
    }
    const message = `a line of the role ${nameOf(record["role"])} was kept as custom data`;
    this.#problems.add("unexpected", message, line);
    yield toCustomEntry(FORMAT, sourceId, "line", otherFields(record, []), null);
  }

  #draft(record: Fields, sourceId: string): EntryDraft | undefined {
    const { role } = record;
    const blocks = toContentBlocks(FORMAT, record["content"], () => undefined);
    const marks =
      record["injected"] === true || role === "system" ? { marks: { injected: true } } : {};
    const fields = otherFields(record, KNOWN);
    const base = { sourceId, kind: "message" as const, fields, ...marks };
    switch (role) {
      case "user":
      case "system":
        return { ...base, role, blocks };
      case "assistant": {
        const thought = textField(record, "reasoning_content");
        const signature = textField(record, "reasoning_signature");
        const thoughts = thought ? [thinkingBlock(thought, signature)] : [];
        const model = textField(record, "model") ?? this.model;
        const calls = this.#calls(record["tool_calls"]);
        return { ...base, role, actor: FORMAT, model, blocks: [...thoughts, ...blocks, ...calls] };
      }
      case "tool": {
        const toolUseId = textField(record, "tool_call_id") ?? "";
        const toolName = textField(record, "name") ?? this.#names.get(toolUseId);
        const output = textField(record, "content") ?? blocks;
        const result = resultBlock(toolUseId, toolName, output, false);
        return { ...base, role, actor: toolName ?? null, blocks: [result] };
      }
      default:
        return undefined;
    }
  }

  /** Arguments are JSON, or a text with JSON. */
  #calls(calls: unknown): Block[] {
    return objectsIn(calls).map((call) => {
      const called = objectField(call, "function");
      const id = textField(call, "id") ?? "";
      const name = nameOf(called["name"] ?? "");
      const given = called["arguments"] ?? {};
      this.#names.set(id, name);
      const input = typeof given === "string" ? given || "{}" : JSON.stringify(given);
      return { type: "tool_use", id, name, input };
    });
  }
}
