/**
 * Sessions of Droid, Factory's agent: JSON lines in a folder per project, and beside each file its
 * settings, with the session's total tokens. A sub-agent has its own file that names its caller.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { KEPT_CALLS, KEPT_IDS } from "../batches.ts";
import {
  type EntryDraft,
  KnownIds,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
} from "../drafts.ts";
import { type Fields, nameOf, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, KnownSession, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "droid";

/** The header has no time: one of these records has. */
const LOOKED_AT = 16;

const OWN_FOLDER = /[/\\]\.factory[/\\]sessions[/\\]/;

const MAX_SETTINGS_BYTES = 256 * 1024;

export const DROID: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      // The variable names another home, not the folder itself.
      root: joinPath(
        folderOf(environment, "FACTORY_HOME_OVERRIDE", environment.home),
        ".factory/sessions",
      ),
      matches: (path) => /^([^/]+\/)?[^/]+\.jsonl$/.test(path),
      skips: (path) => path.includes("/"),
    },
  ],

  recognise(head, path) {
    const first = firstRecord(head);
    if (first?.["type"] !== "session_start") return false;
    // Every other field of the header is optional: in its own folder the file is Droid's without them.
    if (OWN_FOLDER.test(path)) return true;
    if (textField(first, "id") === undefined) return false;
    return ["title", "owner", "hostId", "sessionTitle"].some((name) => name in first);
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new DroidRecords(problems, input.resume);
    const known = new KnownSession(input.resume, records);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const rest = readRecords(known.lines.read(input.lines), problems);
      const first: JsonRecord[] = [];
      while (first.length < LOOKED_AT && !first.some(({ record }) => "timestamp" in record)) {
        const { value, done } = await rest.next();
        if (done) break;
        first.push(value);
      }
      if (first.length === 0) return;
      if (known.isNew) known.fields = describe(first, problems);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for (const { record, line } of first) yield* records.read(record, line);
        for await (const { record, line } of rest) yield* records.read(record, line);
      }
      yield {
        ...toSession(known.fields, await readSettings(input), input.path),
        entries: entries(),
        problems,
      };
    }
    return {
      sessions: sessions(),
      problems,
      state: () => known.lines.state(),
      isLost: () => records.isLost,
    };
  },

  resumeCommand: ({ id }) => commandFor("droid --resume ", id),
};

function describe(first: readonly JsonRecord[], problems: ProblemLog): Fields {
  const header = first.find(({ record }) => record["type"] === "session_start")?.record;
  if (header === undefined) {
    problems.add("missing_header", "the file begins without the session's line", first[0]?.line);
  }
  const times = first.map(({ record }) => timeField(record, "timestamp"));
  const at = times.find((time) => time !== null) ?? null;
  return { ...otherFields(header ?? {}, ["type"]), startedAt: at };
}

/** Reads the optional settings beside the transcript. */
async function readSettings({ path, files }: SourceInput): Promise<JsonObject> {
  const name = fileName(path).replace(/\.jsonl$/, ".settings.json");
  const text = await files?.readText(name, MAX_SETTINGS_BYTES);
  const value = text === undefined ? undefined : parseJson(text);
  return isPlainObject(value) ? otherFields(value, []) : {};
}

function toSession(
  known: Fields,
  settings: JsonObject,
  path: string,
): ReturnType<typeof toImportedSession> {
  const text = (name: string) => textField(known, name) || undefined;
  const stem = fileName(path).replace(/\.jsonl$/, "");
  const own = [
    "id",
    "sessionId",
    "title",
    "sessionTitle",
    "cwd",
    "startedAt",
    "callingSessionId",
    "parent",
  ];
  const fields = otherFields(known, own);
  const isNone = Object.keys(settings).length === 0;
  return toImportedSession(FORMAT, {
    id: text("id") ?? text("sessionId") ?? (stem === "" ? null : stem),
    title: text("sessionTitle") ?? text("title") ?? null,
    cwd: text("cwd") ?? null,
    startedAt: timeField(known, "startedAt"),
    parentSession: text("callingSessionId") ?? text("parent") ?? null,
    fields: isNone ? fields : { ...fields, settings },
  });
}

// Records of Droid: a header, messages in Anthropic's form that name their parents, and program
// states.
//
// A notice to the user was not seen by the model: it is kept as custom data, and its children
// follow the message before it. A compaction has no place in the tree: it follows the newest
// message, whose later children follow the compaction.

/** Markers that repeat a call or an answer. */
const MARKS: readonly unknown[] = ["session_start", "todo_state", "agent_turn_outcome"];

/** The number of parents and calls in the resume state, which must stay small. */
const KEPT_STATE = 256;

class DroidRecords {
  /** Whether a resumed reading met a reference to an unknown message. */
  isLost = false;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #names: RecentMap<string, string>;
  /** By record, the entry that its children follow. */
  readonly #tips: RecentMap<string, string | null>;
  readonly #isResumed: boolean;
  #tip: string | null;
  #newest: string | undefined;

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const state: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    this.#isResumed = resume !== undefined;
    this.#tips = new RecentMap(KEPT_IDS, pairs(state["tips"]));
    this.#names = new RecentMap(KEPT_CALLS, pairs(state["names"]) as [string, string][]);
    this.#tip = textField(state, "tip") ?? null;
    this.#newest = textField(state, "newest");
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return {
      tips: [...this.#tips].slice(-KEPT_STATE) as unknown as JsonValue,
      names: [...this.#names].slice(-KEPT_STATE) as unknown as JsonValue,
      tip: this.#tip,
      newest: this.#newest ?? null,
    };
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const { type, message } = record;
    const id = textField(record, "id") ?? `line-${line}`;
    if (MARKS.includes(type)) {
      if (type !== "session_start") this.#problems.ignore(nameOf(type));
    } else if (type === "message" && isPlainObject(message)) {
      yield* this.#message(record, message, id, line);
    } else if (type === "compaction_state" && textField(record, "summaryText") !== undefined) {
      yield* this.#compaction(record, id, line);
    } else {
      this.#problems.add("unexpected", `a record of the type ${nameOf(type)} is custom data`, line);
      if (!this.#ids.isNew(id, record, line)) return;
      const data = otherFields(record, ["type", "id", "timestamp"]);
      const custom = toCustomEntry(FORMAT, id, nameOf(type), data, timeField(record, "timestamp"));
      yield { ...custom, parentSourceId: this.#tip };
    }
  }

  *#message(record: Fields, message: Fields, id: string, line: number): Generator<ImportedEntry> {
    const parent = this.#parentOf(record, line);
    const content = toContentBlocks(message["content"], FORMAT);
    if ("hookEventName" in message && (content ?? []).length === 0) {
      this.#problems.ignore("hook");
      this.#advance(id, parent);
      return;
    }
    if (!this.#ids.isNew(id, record, line)) return;
    const drafts = toDrafts(record, message, content, id);
    if (drafts === undefined) {
      this.#problems.add("unexpected", "a message without a role or content is custom data", line);
      const data = otherFields(record, ["type", "id", "timestamp"]);
      const custom = toCustomEntry(FORMAT, id, "message", data, timeField(record, "timestamp"));
      yield { ...custom, parentSourceId: parent };
      this.#advance(id, parent);
      return;
    }
    let tip = parent;
    for (const draft of drafts.flatMap((each) => this.#split(each))) {
      if (draft.sourceId !== id && !this.#ids.isNew(draft.sourceId, draft, line)) continue;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: tip });
      if (draft.kind === "message") tip = draft.sourceId;
    }
    this.#advance(id, tip);
  }

  #split(draft: EntryDraft): EntryDraft[] {
    const { blocks = [], kind } = draft;
    return kind === "message" ? toMessageDrafts({ ...draft, blocks }, this.#names) : [draft];
  }

  *#compaction(record: Fields, sourceId: string, line: number): Generator<ImportedEntry> {
    if (!this.#ids.isNew(sourceId, record, line)) return;
    const draft: EntryDraft = {
      sourceId,
      kind: "compaction",
      parentSourceId: this.#tip,
      blocks: [{ type: "text", text: textField(record, "summaryText") ?? "" }],
      data: { firstKeptEntryId: null, tokensBefore: null },
      createdAt: timeField(record, "timestamp"),
      fields: otherFields(record, ["type", "id", "timestamp", "summaryText"]),
    };
    yield toImportedEntry(FORMAT, draft);
    if (this.#newest !== undefined) this.#tips.set(this.#newest, sourceId);
    this.#tip = sourceId;
  }

  #parentOf(record: Fields, line: number): string | null {
    const named = textField(record, "parentId");
    // Older versions name no parents: there messages are consecutive.
    if (named === undefined) return this.#tip;
    const tip = this.#tips.get(named);
    if (tip !== undefined) return tip;
    if (this.#isResumed) this.isLost = true;
    this.#problems.add("missing_parent", `the parent ${named} is not in the file`, line);
    return this.#tip;
  }

  #advance(id: string, tip: string | null): void {
    this.#tips.set(id, tip);
    this.#tip = tip;
    this.#newest = id;
  }
}

function toDrafts(
  record: Fields,
  message: Fields,
  content: Block[] | undefined,
  sourceId: string,
): EntryDraft[] | undefined {
  const { role, visibility } = message;
  if (content === undefined || (role !== "user" && role !== "assistant")) return undefined;
  const known = ["role", "content", "modelId"];
  const fields = {
    ...otherFields(record, ["type", "id", "timestamp", "message", "parentId"]),
    ...otherFields(message, known),
  };
  const base = { sourceId, createdAt: timeField(record, "timestamp"), fields };
  if (visibility === "user_only") {
    return [{ ...base, kind: "custom", blocks: content, data: { type: `${FORMAT}:notice` } }];
  }
  if (role === "assistant") {
    const model = textField(message, "modelId") ?? null;
    return [{ ...base, kind: "message", role, actor: FORMAT, model, blocks: content }];
  }
  const said = content.filter((block) => !isReminder(block));
  const isInjected = visibility === "llm_only" || (said.length === 0 && content.length > 0);
  if (isInjected) {
    return [{ ...base, kind: "message", role, blocks: content, marks: { injected: true } }];
  }
  const context = content.filter(isReminder).map((block) => ("text" in block ? block.text : ""));
  const added = context.length === 0 ? {} : { context: context.join("\n") };
  return [{ ...base, kind: "message", role, blocks: said, fields: { ...fields, ...added } }];
}

/** True for text that the program adds to the user's. */
function isReminder(block: Block): boolean {
  return block.type === "text" && /^\s*<system-(reminder|notification)\b/.test(block.text);
}

function pairs(value: unknown): [string, string | null][] {
  return (Array.isArray(value) ? value : []).filter(
    (pair): pair is [string, string | null] => Array.isArray(pair) && typeof pair[0] === "string",
  );
}
