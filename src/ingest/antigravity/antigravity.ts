/**
 * Conversations of Antigravity, Google's agent: the command line and the editors keep a folder per
 * conversation, in it a log of JSON lines, one per step. Folder, title and parent are in a database
 * of all conversations.
 *
 * A tool's result names no call: results follow the step of their calls, in order.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectsIn,
  otherFields,
  presentFields,
  replaceTagged,
  resultBlock,
  textField,
  timeField,
} from "../fields.ts";
import { recordsOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, KnownSession, readRecords } from "../jsonl.ts";
import { splitLines } from "../lines.ts";
import { commandFor, fileName, folderName, joinPath, pathOfUri } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  Environment,
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  Place,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { withDatabase } from "../sqlite-file.ts";

/** Logs of one conversation, the fullest first: the others have shortened copies of its steps. */
const LOGS: readonly string[] = ["transcript_full.jsonl", "transcript.jsonl", "overview.txt"];

const LOG_FOLDER = ".system_generated/logs";

/** These logs are shortened by their writer. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Before August 2026 the program encrypted its own copy of a conversation; its key is not in a file. */
const SEALED = /[/\\](conversations|implicit)[/\\][^/\\]+\.pb$/;

export const ANTIGRAVITY: TranscriptSource = {
  name: "antigravity",
  places: (environment) => placesOf(environment, /^antigravity-cli$/),
  recognise: (head, path) => isLog(head, path) && !isEditor(path),
  read: (input) => read(input, "antigravity"),
  resumeCommand: ({ id }) => commandFor("agy --conversation ", id),
};

/** The desktop program and the editor, also their backups: `antigravity`, `antigravity-ide`. */
export const ANTIGRAVITY_IDE: TranscriptSource = {
  name: "antigravity-ide",
  places: (environment) => placesOf(environment, /^antigravity(?!-cli$)/),
  recognise: (head, path) => isLog(head, path) && isEditor(path),
  read: (input) => read(input, "antigravity-ide"),
};

function placesOf({ home }: Environment, program: RegExp): Place[] {
  const inFolders = (path: string) => program.test(path.split("/", 1)[0] ?? "");
  return [
    {
      root: joinPath(home, ".gemini"),
      matches: (path) =>
        inFolders(path) &&
        (SEALED.test(path) || LOGS.some((name) => path.endsWith(`/${LOG_FOLDER}/${name}`))),
      skips: (path) =>
        !inFolders(path) ||
        !/^[^/]+(\/(conversations|implicit|brain(\/[^/]+(\/\.system_generated(\/logs)?)?)?))?$/.test(
          path,
        ),
    },
  ];
}

function isEditor(path: string): boolean {
  return /[/\\]antigravity(?!-cli[/\\])[^/\\]*[/\\](brain|conversations|implicit)[/\\]/.test(path);
}

function isLog(head: Uint8Array, path: string): boolean {
  if (SEALED.test(path) && /[/\\]antigravity[^/\\]*[/\\]/.test(path)) return true;
  for (const record of recordsOfHead(head)) {
    if (countField(record, "step_index") === undefined) continue;
    return ["source", "type", "status"].every((name) => textField(record, name) !== undefined);
  }
  return false;
}

function read(input: SourceInput, format: string): ImportedTranscript {
  const problems = new ProblemLog();
  const steps = new Steps(format, problems, input.resume);
  const known = new KnownSession(input.resume, steps);
  async function* sessions(): AsyncGenerator<ImportedSession> {
    if (SEALED.test(input.path)) {
      await reportSealed(input, problems);
      return;
    }
    const better = await betterLog(input);
    if (better !== undefined) {
      problems.ignore(`copy of ${better}`);
      return;
    }
    const records = readRecords(known.lines.read(input.lines), problems);
    const { value: first, done } = await records.next();
    if (done) return;
    const missing = known.isNew ? await readMissing(input, first, problems) : [];
    async function* entries(): AsyncGenerator<ImportedEntry> {
      for (const record of missing) {
        for (const entry of steps.read(record)) yield { ...entry, isShortened: true };
      }
      if (first !== undefined) yield* steps.read(first);
      for await (const record of records) yield* steps.read(record);
    }
    if (known.isNew) {
      known.fields = { startedAt: timeField((missing[0] ?? first).record, "created_at") };
    }
    const startedAt = timeField(known.fields, "startedAt");
    const id = conversationOf(input.path);
    const described = id === null ? {} : await describe(input, id);
    const session = toImportedSession(format, { id, startedAt, ...described });
    yield { ...session, entries: entries(), problems };
  }
  return { sessions: sessions(), problems, state: () => known.lines.state() };
}

/** Null for a file elsewhere that has no name. */
function conversationOf(path: string): string | null {
  const isInPlace = folderName(path) === "logs" && LOGS.includes(fileName(path));
  return (isInPlace ? folderName(path, 3) : fileName(path).replace(/\.jsonl$/, "")) || null;
}

async function betterLog({ path, files }: SourceInput): Promise<string | undefined> {
  const rank = LOGS.indexOf(fileName(path));
  const names = rank <= 0 ? [] : ((await files?.list(".")) ?? []);
  return LOGS.slice(0, Math.max(0, rank)).find((name) => names.includes(name));
}

/** The steps before `first`, which the program has removed here, from the shorter logs. */
async function readMissing(
  { path, files }: SourceInput,
  first: JsonRecord,
  problems: ProblemLog,
): Promise<readonly JsonRecord[]> {
  const end = countField(first.record, "step_index") ?? 0;
  let begin = end;
  let missing: JsonRecord[] = [];
  for (const name of LOGS.slice(LOGS.indexOf(fileName(path)) + 1)) {
    const text = begin === 0 ? undefined : await files?.readText(name, MAX_LOG_BYTES);
    const before: JsonRecord[] = [];
    // Damage in that log is no problem of this one.
    for await (const each of readRecords(splitLines([Buffer.from(text ?? "")]), new ProblemLog())) {
      if ((countField(each.record, "step_index") ?? begin) < begin) before.push(each);
    }
    missing = [...before, ...missing];
    begin = countField(before[0]?.record ?? {}, "step_index") ?? begin;
  }
  if (begin > 0) problems.add("unexpected", `steps before ${begin} are in no log`);
  if (begin < end) {
    const what = `steps ${begin} to ${end - 1} are only in a log that shortens long texts`;
    problems.add("unexpected", what);
  }
  return missing;
}

async function reportSealed({ path, files }: SourceInput, problems: ProblemLog): Promise<void> {
  const id = fileName(path).replace(/\.pb$/, "");
  const names = (await files?.list(`../brain/${id}/${LOG_FOLDER}`)) ?? [];
  if (LOGS.some((name) => names.includes(name))) problems.ignore("encrypted copy of a log");
  else problems.add("unreadable", `the conversation ${id} is encrypted, and has no log`);
}

const SUMMARIES = "conversation_summaries";

/** What the database of all conversations says of this one. */
async function describe({ path, files }: SourceInput, id: string): Promise<object> {
  const inData = `../../../../${SUMMARIES}.db`;
  // Confined to the place: a transcript elsewhere has none.
  if ((await files?.modifiedAt(inData)) === undefined) return {};
  const file = path.replace(/[^/\\]+$/, inData);
  // The database is another file: its damage is no problem of this one.
  const rows = withDatabase(file, new ProblemLog(), async function* (database) {
    if (!database.has(SUMMARIES, "workspace_uris")) return;
    yield* database.rows(`SELECT * FROM ${SUMMARIES} WHERE conversation_id = ?`, id);
  });
  for await (const row of rows) {
    const folders = parseJson(textField(row, "workspace_uris") ?? "");
    const [folder] = Array.isArray(folders) ? folders : [];
    return {
      title: textField(row, "title") || null,
      cwd: typeof folder === "string" ? pathOfUri(folder) : null,
      parentSession: textField(row, "parent_conversation_id") || null,
      fields: presentFields({
        workspaces: Array.isArray(folders) ? (folders as JsonValue) : undefined,
        agent: textField(row, "agent_name") || undefined,
      }),
    };
  }
  return {};
}

interface Call {
  readonly id: string;
  readonly name: string;
}

/** Fields of a step that have a place of their own. */
const KNOWN: readonly string[] = "step_index source type status created_at content".split(" ");

/** And of an answer. */
const OF_ANSWER: readonly string[] = [
  ...KNOWN,
  ..."thinking tool_calls input_tokens output_tokens cache_read_tokens".split(" "),
];

/** What the program tells the model at the start: titles of other conversations, names of notes. */
const CONTEXT: readonly string[] = ["CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS"];

const SAID: readonly string[] = ["SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE"];

class Steps {
  readonly #format: string;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  /** Calls of the newest answer without a result. */
  #calls: Call[];
  #model: string | null;

  constructor(format: string, problems: ProblemLog, resume: JsonObject | undefined) {
    this.#format = format;
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const state: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    this.#calls = objectsIn(state["calls"]).map(({ id, name }) => ({
      id: nameOf(id),
      name: nameOf(name),
    }));
    this.#model = textField(state, "model") ?? null;
  }

  /** Undefined if steps repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return { calls: this.#calls.map((call) => ({ ...call })), model: this.#model };
  }

  *read({ record, line }: JsonRecord): Generator<ImportedEntry> {
    const type = nameOf(record["type"]);
    const number = countField(record, "step_index");
    const sourceId = number === undefined ? `line-${line}` : `step-${number}`;
    if (CONTEXT.includes(type)) this.#problems.ignore(type);
    else if (this.#ids.isNew(sourceId, record, line)) {
      const draft = this.#draft(record, type, sourceId, line);
      // Of a step that the program has cleared, only its number and its time are left.
      if (draft === undefined) this.#problems.ignore(`${type} without content`);
      else yield toImportedEntry(this.#format, draft);
    }
  }

  #draft(record: Fields, type: string, sourceId: string, line: number): EntryDraft | undefined {
    const content = textField(record, "content") ?? "";
    const text: Block[] = content === "" ? [] : [{ type: "text", text: content }];
    const createdAt = timeField(record, "created_at");
    const { status } = record;
    const known = type === "PLANNER_RESPONSE" ? OF_ANSWER : KNOWN;
    const fields = { ...otherFields(record, known), ...(status === "DONE" ? {} : { status }) };
    const base = { sourceId, createdAt, fields: fields as JsonObject };
    if (type === "PLANNER_RESPONSE") return this.#answer(record, { ...base, blocks: text });
    if (type === "USER_INPUT") return text.length === 0 ? undefined : this.#prompt(content, base);
    if (type === "CHECKPOINT") {
      const data = { firstKeptEntryId: null, tokensBefore: null };
      return { ...base, kind: "compaction", blocks: text, data };
    }
    if (SAID.includes(type) || (type === "ERROR_MESSAGE" && this.#calls.length === 0)) {
      const marks = { injected: true };
      return { ...base, kind: "message", role: "system", blocks: text, marks };
    }
    if (record["source"] === "MODEL" || type === "ERROR_MESSAGE") {
      return this.#result(type, status, content, base);
    }
    const data = { type: `${this.#format}:${type}` };
    // Files that the user opened or changed.
    if (record["source"] === "USER_EXPLICIT") {
      return { ...base, kind: "custom_message", blocks: text, data: { ...data, display: true } };
    }
    this.#problems.add("unexpected", `a step of the type ${type} is custom data`, line);
    return { ...base, kind: "custom", blocks: text, data };
  }

  #prompt(content: string, base: Pick<EntryDraft, "sourceId" | "fields">): EntryDraft {
    const context: string[] = [];
    const asked = replaceTagged(content, ["USER_REQUEST"], (inner) => inner.trim());
    const text = replaceTagged(asked, ADDED, (_, whole) => {
      context.push(whole);
      return "";
    }).trim();
    this.#model = chosenModel(context) ?? this.#model;
    const fields = {
      ...base.fields,
      ...(context.length === 0 ? {} : { context: context.join("\n") }),
    };
    return { ...base, kind: "message", role: "user", blocks: [{ type: "text", text }], fields };
  }

  #answer(record: Fields, base: EntryDraftOf<"blocks">): EntryDraft | undefined {
    const thought = textField(record, "thinking") ?? "";
    const calls = objectsIn(record["tool_calls"]).map((call, i) => ({
      ...otherFields(call, ["name", "args", "arguments", "id"]),
      type: "tool_use" as const,
      id: textField(call, "id") ?? `${base.sourceId}-${i}`,
      name: nameOf(call["name"] ?? ""),
      input: JSON.stringify(toArguments(call["args"] ?? call["arguments"])),
    }));
    this.#calls = calls.map(({ id, name }) => ({ id, name }));
    const thinking: Block[] = thought === "" ? [] : [{ type: "thinking", text: thought }];
    const blocks = [...thinking, ...base.blocks, ...calls];
    const usage = toUsage(record);
    if (blocks.length === 0 && usage === null) return undefined;
    const said = { role: "assistant" as const, actor: this.#format, model: this.#model, usage };
    return { ...base, ...said, kind: "message", blocks };
  }

  #result(
    type: string,
    status: unknown,
    content: string,
    base: Pick<EntryDraft, "sourceId" | "fields">,
  ): EntryDraft {
    // The type of a step begins with the tool's name, or tells none: then the calls' order counts.
    const named = this.#calls.findIndex(({ name }) => type.startsWith(name.toUpperCase()));
    const [call] = this.#calls.splice(Math.max(0, named), 1);
    const isError = status === "ERROR" || type === "ERROR_MESSAGE" || hasFailed(content);
    const block = resultBlock(call?.id ?? "", call?.name, content, isError);
    const fields = { ...base.fields, type };
    const actor = call?.name ?? type.toLowerCase();
    return { ...base, kind: "message", role: "tool", actor, blocks: [block], fields };
  }
}

type EntryDraftOf<Name extends keyof EntryDraft> = Omit<EntryDraft, "kind" | Name> &
  Required<Pick<EntryDraft, Name>>;

/** What the program adds to the user's text. */
const ADDED: readonly string[] = [
  "ADDITIONAL_METADATA",
  "USER_SETTINGS_CHANGE",
  "EPHEMERAL_MESSAGE",
];

/** The steps name no model: the user's choice of one is said with the next prompt. */
function chosenModel(context: readonly string[]): string | undefined {
  const chosen = /`Model Selection` from [^`\n]{1,80}? to ([^`\n]{1,80}?)\.(?:\s|$)/;
  return chosen.exec(context.join("\n"))?.[1];
}

/** The exit code is in the first lines, below two times. */
function hasFailed(content: string): boolean {
  return /The command (?:failed with exit code|exited with code [1-9])/.test(content.slice(0, 300));
}

/** The shorter logs have each argument as JSON in a text. */
function toArguments(value: unknown): unknown {
  if (!isPlainObject(value)) return value ?? {};
  const values = Object.values(value);
  const areTexts = values.every((each) => typeof each === "string");
  if (!areTexts || !values.some((each) => (each as string).startsWith('"'))) return value;
  const pairs = Object.entries(value as Record<string, string>);
  return Object.fromEntries(pairs.map(([name, text]) => [name, parseJson(text) ?? text]));
}

/** Cached input is counted separately there. Since 1.2; the editors' logs have no counts. */
function toUsage(record: Fields): Usage | null {
  const inputTokens = countField(record, "input_tokens");
  if (inputTokens === undefined) return null;
  return {
    inputTokens,
    outputTokens: countField(record, "output_tokens") ?? 0,
    cacheCreationTokens: 0,
    cacheReadTokens: countField(record, "cache_read_tokens") ?? 0,
  };
}
