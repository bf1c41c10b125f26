/**
 * Sessions of Kiro's command line, the newer generation: JSON lines, and beside them the session's
 * folder, title and parent.
 *
 * The format has no public description: taken from files that Kiro wrote, in
 * Dicklesworthstone/cross_agent_session_resumer (`tests/fixtures/kiro`).
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  type EntryDraft,
  KnownIds,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
} from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
  thinkingBlock,
  timeField,
} from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { KnownSession, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { FORMAT, toCall, toResult, valuesOf } from "./kiro-blocks.ts";

const MAX_META_BYTES = 4 * 1024 * 1024;

const KINDS: readonly unknown[] = ["Prompt", "AssistantMessage", "ToolResults"];

export const KIRO: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      root: joinPath(
        folderOf(environment, "KIRO_HOME", joinPath(environment.home, ".kiro")),
        "sessions/cli",
      ),
      matches: (path) => /^[^/]+\.jsonl$/.test(path),
      matchesPart: (path) => /^[^/]+\.json$/.test(path),
      skips: () => true,
    },
  ],

  recognise(head) {
    const first = firstRecord(head);
    const isVersioned = typeof first?.["version"] === "string" && isPlainObject(first["data"]);
    return isVersioned && KINDS.includes(first["kind"]);
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new KiroRecords(problems, input.resume);
    const known = new KnownSession(input.resume, records);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      known.fields = { format: FORMAT };
      const meta = await readMeta(input);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for await (const { record, line } of readRecords(known.lines.read(input.lines), problems)) {
          yield* records.read(record, line);
        }
      }
      yield { ...toSession(meta, input.path), entries: entries(), problems };
    }
    return { sessions: sessions(), problems, state: () => known.lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("kiro-cli chat --resume-id ", id),
};

async function readMeta({ path, files }: SourceInput): Promise<Fields> {
  const text = await files?.readText(fileName(path).replace(/l$/, ""), MAX_META_BYTES);
  const meta = text === undefined ? undefined : parseJson(text);
  return isPlainObject(meta) ? meta : {};
}

function toSession(meta: Fields, path: string): ReturnType<typeof toImportedSession> {
  const stem = fileName(path).replace(/\.jsonl$/, "");
  const reason = textField(meta, "session_created_reason");
  return toImportedSession(FORMAT, {
    id: textField(meta, "session_id") || stem || null,
    title: textField(meta, "title") || null,
    cwd: textField(meta, "cwd") || null,
    startedAt: timeField(meta, "created_at"),
    parentSession: textField(meta, "parent_session_id") || null,
    fields: reason === undefined ? {} : { session_created_reason: reason },
  });
}

class KiroRecords {
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #names: RecentMap<string, string>;
  /** Of the last request: only it has a time. */
  #at: number | null;

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const state: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    const names = (Array.isArray(state["names"]) ? state["names"] : []) as [string, string][];
    this.#names = new RecentMap(KEPT_CALLS, names);
    this.#at = timeField(state, "at");
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return { names: [...this.#names].slice(-64) as unknown as JsonValue, at: this.#at };
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const data = objectField(record, "data");
    const sourceId = textField(data, "message_id") ?? `line-${line}`;
    if (!this.#ids.isNew(sourceId, record, line)) return;
    const seconds = countField(objectField(data, "meta"), "timestamp");
    if (seconds !== undefined) this.#at = seconds * 1000;
    const draft = this.#draft(record["kind"], data, { sourceId, createdAt: this.#at });
    if (draft !== undefined) {
      yield toImportedEntry(FORMAT, draft);
      return;
    }
    const kind = nameOf(record["kind"]);
    this.#problems.add("unexpected", `a line of the kind ${kind} was kept as custom data`, line);
    yield toCustomEntry(FORMAT, sourceId, kind, otherFields(record, ["kind"]), this.#at);
  }

  #draft(
    kind: unknown,
    data: Fields,
    given: Pick<EntryDraft, "sourceId" | "createdAt">,
  ): EntryDraft | undefined {
    // The outcome of each call is in the content as well.
    const fields = otherFields(data, ["message_id", "content", "meta", "results"]);
    const parts = objectsIn(data["content"]);
    const blocks = parts.map((part) => this.#toBlock(part));
    const base = { ...given, kind: "message" as const, blocks, fields };
    switch (kind) {
      case "Prompt":
        return { ...base, role: "user" };
      case "AssistantMessage": {
        const models = parts.map((part) => textField(objectField(part, "data"), "modelId"));
        const model = models.find((name) => name !== undefined) ?? null;
        return { ...base, role: "assistant", actor: FORMAT, model };
      }
      case "ToolResults": {
        const result = blocks.find((block) => block.type === "tool_result");
        return { ...base, role: "tool", actor: result?.toolName ?? null };
      }
      default:
        return undefined;
    }
  }

  #toBlock(part: Fields): Block {
    const data = objectField(part, "data");
    const id = textField(data, "toolUseId");
    const text = textField(part, "data");
    if (part["kind"] === "text" && text !== undefined) return { type: "text", text };
    if (part["kind"] === "thinking" && typeof data["text"] === "string") {
      return thinkingBlock(data["text"], textField(data, "signature") || undefined);
    }
    if (part["kind"] === "toolUse" && id !== undefined) {
      this.#names.set(id, nameOf(data["name"]));
      return toCall(id, data["name"], data["input"]);
    }
    if (part["kind"] === "toolResult" && id !== undefined) {
      const values = valuesOf(data["content"], (value) => value["data"]);
      return toResult(id, this.#names.get(id), values, data["status"]);
    }
    return { type: "opaque", provider: FORMAT, json: JSON.stringify(part) };
  }
}
