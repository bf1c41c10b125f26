/**
 * Chats of Qwen Code: JSON lines that name their parents, with content in the form of Gemini's API.
 * Its early versions wrote the files of Gemini CLI, in a separate folder.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import { KEPT_IDS } from "../batches.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { toGeminiUsage, toPartBlocks } from "../gemini-parts.ts";
import { firstRecord } from "../head.ts";
import { KnownSession, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { isSnapshot } from "../snapshots.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";

const FORMAT = "qwen-code";

export const QWEN_CODE: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(environment, "QWEN_HOME", joinPath(environment.home, ".qwen"));
    const matches = (path: string) => /^[^/]+\/chats\/[^/]+\.jsonl$/.test(path);
    return [{ root: joinPath(own, "projects"), matches }];
  },

  recognise(head) {
    const first = firstRecord(head);
    return first !== undefined && isRecord(first);
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new QwenRecords(problems, input.resume);
    const known = new KnownSession(input.resume, records);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const rest = readRecords(known.lines.read(input.lines), problems, { skim });
      const { value: first, done } = await rest.next();
      if (done) return;
      if (known.isNew) known.fields = describe(first.record);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* records.read(first.record, first.line);
        for await (const { record, line } of rest) yield* records.read(record, line);
      }
      const stem = fileName(input.path).replace(/\.jsonl$/, "");
      const { version, copyMark } = known.fields;
      const session = toImportedSession(FORMAT, {
        id: textField(known.fields, "id") ?? (stem === "" ? null : stem),
        cwd: textField(known.fields, "cwd") || null,
        gitBranch: textField(known.fields, "gitBranch") || null,
        startedAt: timeField(known.fields, "at"),
        fields: {
          ...(version === null ? {} : { version: nameOf(version) }),
          ...(isPlainObject(copyMark) ? { [COPY_MARK]: copyMark as JsonObject } : {}),
        },
      });
      yield { ...session, entries: entries(), problems };
    }
    return { sessions: sessions(), problems, state: () => known.lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("qwen --resume ", id),
};

function isRecord(record: Fields): boolean {
  const { message, systemPayload } = record;
  const hasIds = typeof record["uuid"] === "string" && typeof record["sessionId"] === "string";
  const isMessage = isPlainObject(message) && Array.isArray(message["parts"]);
  return hasIds && (isMessage || isPlainObject(systemPayload));
}

/** Each line has the session's fields: the first counts. */
function describe(record: Fields): JsonObject {
  return {
    id: textField(record, "sessionId") ?? null,
    cwd: textField(record, "cwd") ?? null,
    gitBranch: textField(record, "gitBranch") ?? null,
    version: textField(record, "version") ?? null,
    at: timeField(record, "timestamp"),
    copyMark: markField(record) ?? null,
  };
}

/** The number of records in the resume state, which must stay small. */
const KEPT = 500;

/** The fields of a record before its payload are within this many characters. */
const HEAD_CHARACTERS = 2_000;
const PAYLOAD = '"systemPayload":';

/** A snapshot without its payload: later records may name it as their parent. */
function skim(text: string): Fields | undefined {
  const head = text.slice(0, HEAD_CHARACTERS);
  const end = head.indexOf(PAYLOAD);
  if (end < 0 || !head.includes("snapshot") || !text.endsWith("}")) return undefined;
  try {
    const record = JSON.parse(`${head.slice(0, end)}${PAYLOAD}{}}`) as Fields;
    return record["type"] === "system" && isSnapshot(record["subtype"]) ? record : undefined;
  } catch {
    // Its payload is not its last field: parsed as a whole.
    return undefined;
  }
}

type Mapped = Omit<EntryDraft, "sourceId">;

class QwenRecords {
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  /** Every record, with the entry that its children follow: annotations have no children here. */
  readonly #places: RecentMap<string, string | null>;
  #last: string | null = null;

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const state: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    const places = Array.isArray(state["places"]) ? state["places"] : [];
    this.#places = new RecentMap(KEPT_IDS, places as [string, string | null][]);
    this.#last = textField(state, "last") ?? null;
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    const places = [...this.#places].slice(-KEPT);
    return { places: places as unknown as JsonValue, last: this.#last };
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const id = textField(record, "uuid");
    if (id === undefined) {
      this.#problems.add("unexpected", "a record without an id was left out", line);
      return;
    }
    if (!this.#ids.isNew(id, record, line)) return;
    const known = toMapped(record);
    if (known === undefined) {
      const type = JSON.stringify(record["type"]) ?? "no type";
      this.#problems.add("unexpected", `a record of ${type} was kept as custom data`, line);
    }
    const entry = known ?? toCustom(record);
    const parent = this.#parentOf(record, line);
    const createdAt = timeField(record, "timestamp");
    yield toImportedEntry(FORMAT, { ...entry, sourceId: id, createdAt, parentSourceId: parent });
    const place = entry.kind === "custom" ? parent : id;
    this.#places.set(id, place);
    this.#last = place;
  }

  #parentOf(record: Fields, line: number): string | null {
    const named = record["parentUuid"];
    if (named === null) return null;
    const found = typeof named === "string" ? this.#places.get(named) : this.#last;
    if (found !== undefined) return found;
    const message = `its parent ${named} is not in the file; attached to the previous entry`;
    this.#problems.add("missing_parent", message, line);
    return this.#last;
  }
}

const KNOWN = [
  "uuid",
  "parentUuid",
  "sessionId",
  "timestamp",
  "type",
  "cwd",
  "version",
  "gitBranch",
  "message",
  "model",
  "usageMetadata",
];

function toMapped(record: Fields): Mapped | undefined {
  const message = objectField(record, "message");
  const blocks = toPartBlocks(message["parts"], FORMAT);
  const fields = otherFields(record, KNOWN);
  const { type } = record;
  if (type === "system") return toSystem(record);
  if (blocks === undefined) return undefined;
  if (type === "assistant") {
    return {
      kind: "message",
      role: "assistant",
      actor: FORMAT,
      blocks,
      fields,
      usage: toUsage(record["usageMetadata"]),
      model: textField(record, "model") ?? null,
    };
  }
  if (type !== "user" && type !== "tool_result") return undefined;
  const results = blocks.filter((block) => block.type === "tool_result");
  const isTool = type === "tool_result" || (results.length > 0 && results.length === blocks.length);
  const failed = isFailed(record["toolCallResult"]);
  const told: Block[] = failed
    ? blocks.map((block) => (block.type === "tool_result" ? { ...block, isError: true } : block))
    : blocks;
  return isTool
    ? { kind: "message", role: "tool", actor: results[0]?.toolName ?? null, blocks: told, fields }
    : { kind: "message", role: "user", blocks, fields };
}

function isFailed(result: unknown): boolean {
  return (
    isPlainObject(result) && (result["status"] === "error" || result["status"] === "cancelled")
  );
}

/** A record of the program itself: a compression, a command, a measurement. */
function toSystem(record: Fields): Mapped {
  const payload = objectField(record, "systemPayload");
  const history = Array.isArray(payload["compressedHistory"]) ? payload["compressedHistory"] : [];
  const [summary] = history.filter(isPlainObject);
  const blocks = toPartBlocks(summary?.["parts"], FORMAT);
  if (record["subtype"] !== "chat_compression" || blocks === undefined) return toCustom(record);
  const info = objectField(payload, "info");
  const tokensBefore = countField(info, "originalTokenCount") ?? null;
  const data = { firstKeptEntryId: null, tokensBefore };
  return { kind: "compaction", blocks, data, fields: otherFields(record, KNOWN) };
}

function toCustom(record: Fields): Mapped {
  const what = textField(record, "subtype") ?? nameOf(record["type"]);
  const rest = otherFields(record, ["uuid", "parentUuid", "sessionId", "timestamp", "type"]);
  return { kind: "custom", data: { type: `${FORMAT}:${what}`, data: rest } };
}

function toUsage(usage: unknown): ReturnType<typeof toGeminiUsage> {
  if (!isPlainObject(usage)) return null;
  return toGeminiUsage({
    input: countField(usage, "promptTokenCount"),
    output: countField(usage, "candidatesTokenCount"),
    cached: countField(usage, "cachedContentTokenCount"),
    thoughts: countField(usage, "thoughtsTokenCount"),
  });
}
