/**
 * Chats of Gemini CLI: one JSON object, or its successor, JSON lines.
 *
 * The lines are a log of changes. A changed message is written again, the user can rewind to an
 * earlier one, and all messages can be replaced. A message is yielded once another follows it, or
 * at the end; later additions become a message after it. A rewind makes a branch.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { readDocument } from "../document/json-document.ts";
import { lookAhead } from "../document/list-scanner.ts";
import { type EntryDraft, toCustomEntry, toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, nameOf, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { ResumedLines, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { FORMAT, toDrafts } from "./gemini-message.ts";

export const GEMINI_CLI: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const home = folderOf(environment, "GEMINI_CLI_HOME", environment.home);
    return [
      {
        root: joinPath(home, ".gemini/tmp"),
        // Sub-agents lie one folder deeper, under the id of the chat that started them.
        matches: (path) => /^[^/]+\/chats\/(session-[^/]+\.jsonl?|[^/]+\/[^/]+\.jsonl)$/.test(path),
        skips: (path) => /^[^/]+\/(?!chats(\/|$))/.test(path),
      },
    ];
  },

  recognise(head) {
    const first = firstRecord(head);
    if (first !== undefined) return isHeader(first);
    const text = textOfHead(head);
    return (
      /^\s*\{\s*"sessionId"\s*:/.test(text) &&
      /"(projectHash|startTime)"\s*:/.test(text.slice(0, 2000))
    );
  },

  isText: (path) => path.endsWith(".json"),

  read(input) {
    const problems = new ProblemLog();
    // Only files of lines have a resume state: an object is read whole.
    if (input.resume !== undefined) return readLog(input, problems);
    let log: ImportedTranscript | undefined;
    const noteLog = (read: ImportedTranscript) => {
      log = read;
    };
    const canResume = /\.jsonl$/.test(input.path);
    return {
      sessions: readEither(input, problems, noteLog),
      problems,
      state: () => (canResume ? log?.state?.() : undefined),
    };
  },

  resumeCommand: ({ id }) => commandFor("gemini --resume ", id),
};

function isHeader(record: Fields): boolean {
  return (
    typeof record["sessionId"] === "string" &&
    (typeof record["projectHash"] === "string" || "startTime" in record) &&
    !("type" in record)
  );
}

function readLog(input: SourceInput, problems: ProblemLog): ReturnType<TranscriptSource["read"]> {
  const kept = input.resume?.["session"];
  let header: Fields = isPlainObject(kept) ? kept : {};
  const chat = new GeminiChat(problems, input.resume);
  const lines = new ResumedLines(() => {
    const state = chat.state();
    return state === undefined ? undefined : { session: header as JsonObject, chat: state };
  });
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const records = readRecords(lines.read(input.lines), problems);
    const { value: first, done } = await records.next();
    if (done) return;
    const isFirst = Object.keys(header).length === 0;
    if (isFirst) {
      if (!isHeader(first.record)) {
        problems.add(
          "missing_header",
          "the file begins without a line for the session",
          first.line,
        );
      }
      const described = isHeader(first.record) ? otherFields(first.record, ["messages"]) : {};
      header = { ...described, isKnown: true };
    }
    async function* entries(): AsyncGenerator<ImportedEntry> {
      if (first !== undefined) yield* chat.read(first.record, first.line);
      for await (const { record, line } of records) yield* chat.read(record, line);
      yield* chat.end();
    }
    const session = await toSession(header, input);
    yield { ...session, entries: entries(), leaf: () => chat.leaf, problems };
  }
  return { sessions: sessions(), problems, state: () => lines.state() };
}

/** Lines if the first is complete, else one object, whatever the file's name. */
async function* readEither(
  input: SourceInput,
  problems: ProblemLog,
  onLog: (log: ImportedTranscript) => void,
): AsyncGenerator<ImportedSession> {
  const ahead = await lookAhead(input, (read) => (read.at(-1)?.text.trim() ?? "") !== "");
  const first = firstRecord(Buffer.from(ahead.lines.at(-1)?.text ?? ""));
  if (first !== undefined && !Array.isArray(first["messages"])) {
    const log = readLog(ahead.input, problems);
    onLog(log);
    yield* log.sessions;
    return;
  }
  const document = await readDocument(ahead.input, "messages", problems);
  if (document === undefined) return;
  const { frame } = document;
  if (!isPlainObject(frame) || !Array.isArray(frame["messages"])) {
    problems.add("unexpected", "the file is JSON, but not a chat with messages");
    return;
  }
  const chat = new GeminiChat(problems, undefined);
  const messages = document.elements(problems);
  async function* entries(fields: Fields): AsyncGenerator<ImportedEntry> {
    yield* chat.read(fields);
    // Without an id it is skipped as a whole.
    const isChat = textField(fields, "sessionId") !== undefined;
    for await (const message of isChat ? messages : []) {
      if (message !== undefined) yield* chat.replay(message);
    }
    yield* chat.end();
  }
  const session = await toSession(frame, input);
  yield { ...session, entries: entries(frame), leaf: () => chat.leaf, problems };
}

async function toSession(
  header: Fields,
  input: SourceInput,
): Promise<Omit<ImportedSession, "entries" | "problems">> {
  const { path } = input;
  const directories = Array.isArray(header["directories"]) ? header["directories"] : [];
  const [directory] = directories.filter((name) => typeof name === "string");
  const stem = fileName(path).replace(/\.jsonl?$/, "");
  const isBelow = header["kind"] === "subagent" && folderName(path) !== "chats";
  const parent = isBelow && folderName(path, 2) === "chats" ? folderName(path) : null;
  const id = textField(header, "sessionId") ?? (stem === "" ? null : stem);
  return toImportedSession(FORMAT, {
    id: parent === null ? id : `${parent}/agent-${id}`,
    parentSession: parent,
    title: textField(header, "summary") || null,
    cwd: (await readRoot(input, parent === null ? ".." : "../..")) ?? directory ?? null,
    startedAt: timeField(header, "startTime"),
    fields: otherFields(header, ["sessionId", "messages", "startTime", "isKnown"]),
  });
}

/** Newer versions write the project's folder beside its chats; the hash cannot be reversed. */
async function readRoot({ files }: SourceInput, above: string): Promise<string | undefined> {
  const root = await files?.readText(`${above}/.project_root`, 4096);
  return root?.trim() || undefined;
}

/** The number of messages in the resume state, which must stay small. */
const KEPT_MESSAGES = 500;

/** The number of messages known at a time. A chat has hundreds. */
const KNOWN_MESSAGES = 50_000;

interface Given {
  /** The entry before it. */
  readonly parent: string | null;
  /** Its last entry: its own, or its last tool result's. */
  tip: string | null;
  /** Its entries and their calls. */
  readonly parts: Set<string>;
  /** How often something was added to it. */
  additions: number;
}

/** Numbers repeated names: the first keeps its own, the second is `name#2`. */
function numbering(): (name: string) => string {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  };
}

class GeminiChat {
  readonly #problems: ProblemLog;
  /** The current messages of the chat, in order. */
  #path = new RecentMap<string, true>(KNOWN_MESSAGES);
  /** The last of the path. */
  #newest: string | undefined;
  readonly #given = new RecentMap<string, Given>(KNOWN_MESSAGES);
  /** The newest message, which may still change. */
  #open: { readonly id: string; message: Fields; readonly line: number | undefined } | undefined;
  #tip: string | null = null;
  #renames: number;
  /** The type and time of the first message of each id: with others it is another message. */
  readonly #marks = new RecentMap<string, string>(KNOWN_MESSAGES);
  /** The names of repeated ids. */
  readonly #names = new RecentMap<string, string>(KNOWN_MESSAGES);

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    const state: Fields = isPlainObject(resume?.["chat"]) ? resume["chat"] : {};
    this.#tip = textField(state, "tip") ?? null;
    this.#renames = Number(state["renames"] ?? 0);
    for (const kept of Array.isArray(state["path"]) ? (state["path"] as unknown[]) : []) {
      const [id, parent, tip, parts, additions, mark] = Array.isArray(kept) ? kept : [];
      if (typeof id !== "string" || !Array.isArray(parts)) continue;
      if (typeof mark === "string") this.#marks.set(id, mark);
      this.#advance(id);
      this.#given.set(id, { parent, tip, parts: new Set(parts), additions: Number(additions) });
    }
  }

  get leaf(): string | null {
    return this.#tip;
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#names.size > 0) return undefined;
    const path = [...this.#path.keys()].slice(-KEPT_MESSAGES).flatMap((id) => {
      const given = this.#given.get(id);
      return given === undefined
        ? []
        : [[id, given.parent, given.tip, [...given.parts], given.additions, this.#marks.get(id)]];
    });
    return { path: path as unknown as JsonValue, tip: this.#tip, renames: this.#renames };
  }

  *read(record: Fields, line?: number): Generator<ImportedEntry> {
    const back = textField(record, "$rewindTo");
    const change = record["$set"];
    if (back !== undefined) {
      yield* this.end();
      this.#goBack(back, line);
    } else if (textField(record, "id") !== undefined && "type" in record) {
      yield* this.#message(record, line);
    } else if (isPlainObject(change)) {
      yield* this.#change(change, line);
    } else if (textField(record, "sessionId") !== undefined) {
      yield* this.#change(otherFields(record, ["summary"]), line);
    } else {
      const names = Object.keys(record).slice(0, 5).join(", ");
      this.#problems.add("unexpected", `a record with ${names || "nothing"} was left out`, line);
    }
  }

  /** One of the messages that replace all. A known one keeps its place. */
  *replay(message: unknown, line?: number): Generator<ImportedEntry> {
    const id = isPlainObject(message) ? textField(message, "id") : undefined;
    if (!isPlainObject(message) || id === undefined) {
      this.#problems.add("unexpected", "a message without an id was left out", line);
      return;
    }
    yield* this.#message(message, line);
    yield* this.end();
    this.#tip = this.#given.get(this.#names.get(id) ?? id)?.tip ?? this.#tip;
  }

  /** Yields the newest message in its final form. */
  *end(): Generator<ImportedEntry> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const known = this.#given.get(open.id);
    const drafts = toDrafts(open.message, open.id);
    if (drafts === undefined) {
      const type = JSON.stringify(open.message["type"]);
      const what = `a message of the type ${type} was kept as custom data`;
      this.#problems.add("unexpected", what, open.line);
      if (known !== undefined) return;
      this.#given.set(open.id, {
        parent: this.#tip,
        tip: this.#tip,
        parts: new Set(),
        additions: 0,
      });
      const data = otherFields(open.message, ["id"]);
      const custom = toCustomEntry(FORMAT, open.id, nameOf(open.message["type"]), data, null);
      yield { ...custom, parentSourceId: this.#tip };
      return;
    }
    if (known === undefined) yield* this.#give(open.id, drafts);
    else yield* this.#add(open.id, known, drafts);
  }

  *#message(message: Fields, line?: number): Generator<ImportedEntry> {
    const id = this.#nameOf(message);
    if (this.#open?.id !== id) yield* this.end();
    const onPath = this.#path.has(id);
    if (!onPath) this.#advance(id);
    this.#open = { id, message, line };
    // A rewritten older message keeps its place.
    if (onPath && this.#newest !== id) yield* this.end();
  }

  /** Its id, or a name of its own if the id belongs to another message. */
  #nameOf(message: Fields): string {
    const id = textField(message, "id") ?? "";
    const mark = `${nameOf(message["type"])} ${textField(message, "timestamp") ?? ""}`;
    const known = this.#marks.get(id);
    if (known === undefined) this.#marks.set(id, mark);
    // A replaced message may have no time.
    const isSame = known === undefined || known.startsWith(mark) || mark.startsWith(known);
    if (isSame) return id;
    const name = `${id}~${mark}`;
    this.#names.set(id, name);
    return name;
  }

  #advance(id: string): void {
    this.#path.set(id, true);
    this.#newest = id;
  }

  *#give(id: string, drafts: readonly EntryDraft[]): Generator<ImportedEntry> {
    const given: Given = { parent: this.#tip, tip: this.#tip, parts: new Set(), additions: 0 };
    this.#given.set(id, given);
    const numbered = numbering();
    for (const draft of drafts) {
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: given.tip });
      this.#note(given, draft, numbered(draft.sourceId));
    }
    this.#tip = given.tip;
  }

  /** Yields calls and results added to a message since it was yielded. */
  *#add(id: string, given: Given, drafts: readonly EntryDraft[]): Generator<ImportedEntry> {
    const isNewest = this.#newest === id;
    const numbered = numbering();
    for (const draft of drafts) {
      const isOwn = draft.sourceId === id;
      const part = numbered(draft.sourceId);
      const call = numbering();
      const calls = (draft.blocks ?? []).filter(
        (block) => block.type === "tool_use" && !given.parts.has(call(`call ${block.id}`)),
      );
      if (isOwn ? calls.length === 0 : given.parts.has(part)) continue;
      const added = isOwn
        ? { ...draft, sourceId: `${id}+${++given.additions}`, id, blocks: calls, usage: null }
        : draft;
      yield toImportedEntry(FORMAT, { ...added, parentSourceId: given.tip });
      this.#note(given, added, isOwn ? added.sourceId : part);
    }
    if (isNewest) this.#tip = given.tip;
  }

  #note(given: Given, draft: EntryDraft, part: string): void {
    given.parts.add(part);
    const call = numbering();
    for (const block of draft.blocks ?? []) {
      if (block.type === "tool_use") given.parts.add(call(`call ${block.id}`));
    }
    if (draft.kind === "message") given.tip = draft.sourceId;
  }

  /** Takes back the message and all after it; everything, if it is unknown. */
  #goBack(named: string, line?: number): void {
    const id = this.#names.get(named) ?? named;
    const path = [...this.#path.keys()];
    const index = path.indexOf(id);
    if (index < 0) {
      this.#problems.add("missing_reference", `a rewind names ${id}, which is missing`, line);
    }
    this.#tip = this.#given.get(id)?.parent ?? null;
    this.#follow(path.slice(0, Math.max(0, index)));
  }

  #follow(path: readonly string[]): void {
    this.#path = new RecentMap(KNOWN_MESSAGES);
    this.#newest = undefined;
    for (const id of path) this.#advance(id);
  }

  *#change(change: Fields, line?: number): Generator<ImportedEntry> {
    const { messages } = change;
    if (Array.isArray(messages)) {
      yield* this.end();
      this.#follow([]);
      this.#tip = null;
      for (const message of messages) yield* this.replay(message, line);
    }
    const name = textField(change, "summary");
    if (name !== undefined) {
      const sourceId = `summary-${++this.#renames}`;
      const draft = { sourceId, id: null, kind: "session_info", data: { name } } as const;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: this.#tip });
    }
  }
}
