/**
 * Tasks of Cline, of Roo Code, its fork, and of Kilo Code, the fork of that: the messages sent to the model in one JSON file, with
 * the editor's view and the task's usage beside it.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { KEPT_CALLS, Slots } from "../batches.ts";
import { readDocument } from "../document/json-document.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  costField,
  countField,
  type Fields,
  objectField,
  otherFields,
  replaceTagged,
  textField,
  timeField,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { splitLines } from "../lines.ts";
import { applicationFolder, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  Environment,
  FileAccess,
  ImportedEntry,
  ImportedSession,
  Place,
  SourceInput,
  TranscriptSource,
} from "../source.ts";

const HISTORY = "api_conversation_history.json";

export const CLINE: TranscriptSource = {
  name: "cline",

  places(environment) {
    const own = folderOf(environment, "CLINE_DIR", joinPath(environment.home, ".cline"));
    return [
      ...inEditors(environment, "saoudrizwan.claude-dev"),
      {
        root: joinPath(own, "data"),
        matches: (path) => isTask(path) || /^sessions\/[^/]+\/[^/]+\.messages\.json$/.test(path),
        matchesPart: isBeside,
        skips: (path) => !/^(tasks|sessions)(\/[^/]+)?$/.test(path),
      },
    ];
  },

  recognise: (head, path) => isHistory(head, path) && !isRoo(path) && !isKilo(path),
  isText: () => true,
  read: (input) => read(input, "cline"),
};

export const ROO_CODE: TranscriptSource = {
  name: "roo-code",
  version: 2,
  places: (environment) => inEditors(environment, "rooveterinaryinc.roo-cline"),
  recognise: (head, path) => isHistory(head, path) && isRoo(path),
  isText: () => true,
  read: (input) => read(input, "roo-code"),
};

/** Kilo Code until April 2026: its extension, made from Roo Code, and its first command line. */
export const KILO_CODE: TranscriptSource = {
  name: "kilo-code",

  places: (environment) => [
    ...inEditors(environment, "kilocode.kilo-code"),
    {
      root: joinPath(environment.home, ".kilocode/cli/global"),
      matches: isTask,
      matchesPart: isBeside,
      skips: (path) => !IN_TASKS.test(path),
    },
  ],

  recognise: (head, path) => isHistory(head, path) && isKilo(path),
  isText: () => true,
  read: (input) => read(input, "kilo-code"),
};

/** Editors with the extension, and the folder of a remote one. */
function inEditors(environment: Environment, extension: string): Place[] {
  const applications = applicationFolder(environment);
  const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
  const roots = [
    ...editors.map((name) => joinPath(applications, name)),
    joinPath(environment.home, ".vscode-server/data"),
  ];
  return roots.map((root) => ({
    root: joinPath(root, "User/globalStorage", extension),
    matches: isTask,
    matchesPart: isBeside,
    skips: (path) => !IN_TASKS.test(path),
  }));
}

const IN_TASKS = /^tasks(\/[^/]+)?$/;

function isTask(path: string): boolean {
  return /^tasks\/[^/]+\/api_conversation_history\.json$/.test(path);
}

function isBeside(path: string): boolean {
  return /^(tasks|sessions)\/[^/]+\/(history_item|task_metadata|ui_messages)\.json$/.test(path);
}

/** Many programs write a list of messages: the file's name decides, or Cline's own tags. */
function isHistory(head: Uint8Array, path: string): boolean {
  const text = textOfHead(head);
  const isList = /^\s*(\{[^[]{0,500}"messages"\s*:\s*)?\[\s*(\{|\])/.test(text);
  const name = plainName(path);
  if (name === HISTORY) return /^\s*\[/.test(text);
  if (/\.messages\.json$/.test(name)) return isList && /"role"\s*:/.test(text);
  return isList && /"role"\s*:/.test(text) && /<(environment_details|task)>/.test(text);
}

/** All tasks' files have the same name, compressed or not. */
function plainName(path: string): string {
  return fileName(path).replace(/\.(gz|zst)$/i, "");
}

function isRoo(path: string): boolean {
  return /roo-cline|roo-code/i.test(path);
}

function isKilo(path: string): boolean {
  return /kilo-code|[/\\]\.kilocode[/\\]/i.test(path);
}

function read(input: SourceInput, format: string): ReturnType<TranscriptSource["read"]> {
  const problems = new ProblemLog();
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const document = await readDocument(input, "messages", problems);
    if (document === undefined) return;
    const { frame } = document;
    if (!Array.isArray(isPlainObject(frame) ? frame["messages"] : frame)) {
      problems.add("unexpected", "the file is JSON, but not a list of messages");
      return;
    }
    // Damage is reported when the file itself is read.
    const first = await firstOf(document.elements(new ProblemLog()));
    const { item, shown } = await BESIDE.take(() => readBeside(input.files));
    const session = describe(input.path, format, first, item, shown.first);
    const messages = document.elements(problems);
    yield { ...session, entries: readMessages(messages, shown.calls, format, problems), problems };
  }
  return { sessions: sessions(), problems };
}

async function firstOf(messages: AsyncIterable<unknown>): Promise<unknown> {
  for await (const message of messages) return message;
  return undefined;
}

function describe(
  path: string,
  format: string,
  firstMessage: unknown,
  item: Fields,
  firstShown: Fields,
): Omit<ImportedSession, "entries" | "problems"> {
  const name = plainName(path);
  const stem = name === HISTORY ? folderName(path) : name.replace(/(\.messages)?\.json$/, "");
  const id = textField(item, "id") ?? (stem === "" ? null : stem);
  const start = JSON.stringify(firstMessage ?? "");
  const [, folder] =
    /Current (?:Workspace|Working) Directory \(((?:[^()"\\]|\\\\)+)\)/.exec(start) ?? [];
  const started = /^\d{13}$/.test(id ?? "") ? Number(id) : null;
  return toImportedSession(format, {
    id,
    title: textField(item, "task") ?? textField(firstShown, "text") ?? null,
    cwd: textField(item, "workspace") ?? folder?.replaceAll("\\\\", "\\") ?? null,
    startedAt: started ?? timeField(firstShown, "ts") ?? timeField(item, "ts"),
    parentSession: textField(item, "parentTaskId") ?? null,
    fields: otherFields(item, ["id", "task", "workspace"]),
  });
}

/** Many tasks are read concurrently, and a small one may have a large companion file. */
const BESIDE = new Slots(1);

const MAX_BESIDE_BYTES = 16 * 1024 * 1024;

/** Reads the optional files beside the messages. */
async function readBeside(
  files: FileAccess | undefined,
): Promise<{ readonly item: Fields; readonly shown: Shown }> {
  const read = (name: string) => files?.readBytes(name, MAX_BESIDE_BYTES);
  const item = parseBytes(await read("history_item.json"));
  const metadata = parseBytes(await read("task_metadata.json"));
  const shown = await readShown(await read("ui_messages.json"), metadata["model_usage"]);
  return { item, shown };
}

function parseBytes(bytes: Uint8Array | undefined): Fields {
  const value = bytes === undefined ? undefined : parseJson(new TextDecoder().decode(bytes));
  return isPlainObject(value) ? value : {};
}

/** `calls` has the usage of each answer in order. Undefined messages were reported before. */
async function* readMessages(
  messages: AsyncIterable<unknown>,
  calls: readonly ModelCall[],
  format: string,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  const ids = new KnownIds(problems);
  let parent: string | null = null;
  let answers = 0;
  /** As the editor's state named it last. */
  let shownModel: string | null = null;
  let number = -1;
  for await (const message of messages) {
    number++;
    if (message === undefined) {
      // Roles alternate, starting with the user: later calls keep their answers.
      if (number % 2 === 1) answers++;
      continue;
    }
    const role = isPlainObject(message) ? message["role"] : undefined;
    const content = isPlainObject(message)
      ? toContentBlocks(message["content"], format)
      : undefined;
    if (!isPlainObject(message) || content === undefined || !isRole(role)) {
      problems.add(
        "unexpected",
        `message ${number + 1} has no known role, or no content, and was left out`,
      );
      continue;
    }
    const call = role === "assistant" ? calls[answers++] : undefined;
    if (role === "user") shownModel = modelShown(content) ?? shownModel;
    for (const draft of toDrafts(message, content, idOf(message, number), format, names)) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      const createdAt = timeField(message, "ts") ?? call?.at ?? null;
      const usage = call?.usage ?? null;
      const ofAnswer = role === "assistant" ? shownModel : null;
      const model = draft.model ?? call?.model ?? ofAnswer;
      const cost = call?.cost === undefined ? {} : { cost: call.cost };
      const entry: EntryDraft = {
        ...draft,
        ...cost,
        createdAt,
        usage,
        model,
        parentSourceId: parent,
      };
      yield toImportedEntry(format, entry);
      parent = draft.sourceId;
    }
  }
}

function isRole(role: unknown): role is "user" | "assistant" {
  return role === "user" || role === "assistant";
}

/** A task reset to an earlier point has other messages under the same numbers. */
function idOf(message: Fields, number: number): string {
  const own = textField(message, "id");
  const time = timeField(message, "ts");
  const hash = toHex(sha256(Buffer.from(JSON.stringify(message["content"])))).slice(0, 8);
  return own ?? `message-${time ?? number}-${hash}`;
}

function toDrafts(
  message: Fields,
  content: readonly Block[],
  sourceId: string,
  format: string,
  names: RecentMap<string, string>,
): EntryDraft[] {
  const known = ["role", "content", "id", "ts", "reasoning", "modelInfo"];
  const fields = otherFields(message, known);
  const model = objectField(message, "modelInfo");
  const base = { sourceId, id: null, model: textField(model, "modelId") ?? null } as const;
  if (message["isSummary"] === true) {
    const data = { firstKeptEntryId: null, tokensBefore: null };
    const blocks = content.filter(({ type }) => type === "text");
    return [{ ...base, kind: "compaction", blocks, data, fields }];
  }
  if (message["role"] === "assistant") {
    const text = textField(message, "reasoning") ?? "";
    const thought: Block[] = text === "" ? [] : [{ type: "thinking", text }];
    const said = { ...base, kind: "message", role: "assistant", actor: format } as const;
    return toMessageDrafts({ ...said, blocks: [...thought, ...content], fields }, names);
  }
  const { blocks, context, tool } = unwrap(content);
  const all: JsonObject = context === "" ? fields : { ...fields, context };
  if (tool !== undefined) {
    return [{ ...base, kind: "message", role: "tool", actor: tool, blocks, fields: all }];
  }
  return toMessageDrafts({ ...base, kind: "message", role: "user", blocks, fields: all }, names);
}

/**
 * The user's text is in tags, followed by the editor's state. Textual tool calls have textual
 * results, which are not the user's either.
 */
function unwrap(content: readonly Block[]): {
  readonly blocks: Block[];
  readonly context: string;
  readonly tool: string | undefined;
} {
  const context: string[] = [];
  const blocks: Block[] = [];
  let tool: string | undefined;
  for (const block of content) {
    if (block.type !== "text") {
      blocks.push(block);
      continue;
    }
    const bare = replaceTagged(block.text, ["environment_details"], (_, whole) => {
      context.push(whole);
      return "";
    });
    const text = replaceTagged(bare, TAGS, (inner) => inner.trim()).trim();
    if (text !== "") blocks.push({ ...block, text });
    tool ??= /^\[(\w+)\b[^\]\n]*\] Result:/.exec(text)?.[1];
  }
  return { blocks, context: context.join("\n"), tool };
}

/** Roo Code and Kilo Code name the model to itself, below the mode. */
function modelShown(content: readonly Block[]): string | undefined {
  for (const block of content) {
    const text = block.type === "text" ? block.text : "";
    if (!text.includes("<environment_details>")) continue;
    const [, model] =
      /# Current Mode\n[^#]{0,400}?<model>([^<\n]{1,200})<\/model>/.exec(text) ?? [];
    if (model !== undefined) return model.trim();
  }
  return undefined;
}

const TAGS: readonly string[] = ["task", "feedback", "user_message", "answer"];

/** The editor's log of model calls: time, model, usage. */
interface ModelCall {
  readonly at: number | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly cost?: number;
}

interface Shown {
  /** The first record; empty if there is none. */
  readonly first: Fields;
  /** In their order. */
  readonly calls: readonly ModelCall[];
}

/** Parses `bytes`, the list that the editor shows. `models`: the model in use from each time on. */
async function readShown(bytes: Uint8Array | undefined, models: unknown): Promise<Shown> {
  const changes = (Array.isArray(models) ? models.filter(isPlainObject) : []).map((change) => ({
    from: timeField(change, "ts") ?? 0,
    model: textField(change, "model_id") ?? null,
  }));
  const modelAt = (at: number | null) =>
    changes.findLast(({ from }) => from <= (at ?? 0) + SAME_MS)?.model ?? null;
  let first: Fields | undefined;
  const calls: ModelCall[] = [];
  for await (const record of readList(bytes)) {
    if (!isPlainObject(record)) continue;
    first ??= record;
    if (record["say"] === "api_req_started") calls.push(...toCall(record, modelAt));
  }
  return { first: first ?? {}, calls };
}

async function* readList(bytes: Uint8Array | undefined): AsyncGenerator<unknown> {
  if (bytes === undefined) return;
  const input = { lines: splitLines([bytes]), bytes: [bytes], isRepeatable: true };
  // Damage in this file is not reported as the transcript's.
  const problems = new ProblemLog();
  const document = await readDocument(input, "messages", problems);
  if (Array.isArray(document?.frame)) yield* document.elements(problems);
}

function toCall(record: Fields, modelAt: (at: number | null) => string | null): ModelCall[] {
  const at = timeField(record, "ts");
  const request = parseJson(textField(record, "text") ?? "");
  // It counts, readable or not, so that later ones keep their answers.
  if (!isPlainObject(request)) return [{ at, usage: null, model: modelAt(at) }];
  if (isAborted(request)) return [];
  return [{ at, usage: toUsage(request), model: modelAt(at), ...costField(request, "cost") }];
}

/** The model is recorded a moment after its call begins. */
const SAME_MS = 1000;

/** A call aborted before its answer has no message. */
function isAborted(request: Fields): boolean {
  return textField(request, "cancelReason") === "retries_exhausted";
}

function toUsage(request: Fields): Usage | null {
  const usage = {
    inputTokens: countField(request, "tokensIn") ?? 0,
    outputTokens: countField(request, "tokensOut") ?? 0,
    cacheCreationTokens: countField(request, "cacheWrites") ?? 0,
    cacheReadTokens: countField(request, "cacheReads") ?? 0,
  };
  return Object.values(usage).some((count) => count > 0) ? usage : null;
}
