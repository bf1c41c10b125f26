/**
 * Sessions of Kimi Code: a folder per session, in it `wire.jsonl` for the agent and for each
 * sub-agent, and `state.json` with the working folder.
 *
 * An answer is a step of several lines, with its usage before its parts and the results of its tools
 * before its end. It is complete with the first result: then it becomes one message.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS } from "../batches.ts";
import {
  ContentIds,
  type EntryDraft,
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
  resultBlock,
  textField,
  timeField,
} from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { toBlocks } from "./kimi-blocks.ts";

const FORMAT = "kimi-code";

/** Of every session's id: without it the first characters tell sessions apart. */
const PREFIX = "session_";

/** An answer without writes for this long is complete or abandoned. */
const QUIET_MS = 10 * 60 * 1000;

const MAX_STATE_BYTES = 256 * 1024;

export const KIMI_CODE: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      root: joinPath(
        folderOf(environment, "KIMI_CODE_HOME", joinPath(environment.home, ".kimi-code")),
        "sessions",
      ),
      matches: (path) => /^[^/]+\/[^/]+\/agents\/[^/]+\/wire\.jsonl$/.test(path),
      matchesPart: (path) => /^[^/]+\/[^/]+\/state\.json$/.test(path),
      skips: (path) => !/^[^/]+(\/[^/]+(\/agents(\/[^/]+)?)?)?$/.test(path) || path.startsWith("."),
    },
  ],

  recognise(head) {
    const first = firstRecord(head);
    return first?.["type"] === "metadata" && textField(first, "protocol_version") !== undefined;
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new KimiRecords(problems);
    let isPostponed = false;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const lines = readRecords(input.lines, problems, { skim: skimSnapshot });
      const { value: first, done } = await lines.next();
      if (done) return;
      if (first.record["type"] !== "metadata") {
        problems.add(
          "missing_header",
          "the file begins without the line of its format",
          first.line,
        );
      }
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* records.read(first);
        for await (const record of lines) yield* records.read(record);
        isPostponed = records.isOpen && !(await hasRested(input));
        if (!isPostponed) yield* records.flush();
      }
      yield {
        ...(await describe(input, first.record)),
        entries: entries(),
        leaf: () => records.tip,
        problems,
      };
    }
    return { sessions: sessions(), problems, isPostponed: () => isPostponed };
  },

  resumeCommand: ({ id }) => commandFor(`kimi --session ${PREFIX}`, id),
};

/** The tools of a request, in every session the same. */
const SNAPSHOT = '{"type":"llm.tools_snapshot"';
const SNAPSHOT_RECORD = { type: "llm.tools_snapshot" };

function skimSnapshot(text: string): JsonRecord["record"] | undefined {
  return text.startsWith(SNAPSHOT) && text.endsWith("}") ? SNAPSHOT_RECORD : undefined;
}

async function hasRested({ files, path }: SourceInput): Promise<boolean> {
  const written = await files?.modifiedAt(fileName(path));
  return written === undefined || Date.now() - written > QUIET_MS;
}

/** The folder of a sub-agent's file names it; its session is the agent's. */
async function describe(
  { path, files }: SourceInput,
  header: Fields,
): Promise<ReturnType<typeof toImportedSession>> {
  const isNamed = folderName(path, 2) === "agents" && fileName(path) === "wire.jsonl";
  const whole = isNamed ? folderName(path, 3) : fileName(path).replace(/\.jsonl$/, "");
  const name = whole.startsWith(PREFIX) ? whole.slice(PREFIX.length) : whole;
  const agent = isNamed ? folderName(path) : "main";
  const text = await files?.readText("../../state.json", MAX_STATE_BYTES);
  const value = text === undefined ? undefined : parseJson(text);
  const state: Fields = isPlainObject(value) ? value : {};
  return toImportedSession(FORMAT, {
    id: name === "" ? null : agent === "main" ? name : `${name}/${agent}`,
    parentSession: agent === "main" ? null : name,
    title: textField(state, "title") || null,
    cwd: textField(state, "cwd") ?? null,
    startedAt: timeField(header, "created_at"),
    fields: otherFields(header, ["type", "created_at"]),
  });
}

/** Families of records, the first word of the type, that repeat the context or tell the program's state. */
const MARKS: ReadonlySet<string> = new Set([
  "agent",
  "assistant",
  "compaction",
  "config",
  "cron",
  "event",
  "file_history",
  "full_compaction",
  "goal",
  "hook",
  "interaction",
  "interruptionReminder",
  "llm",
  "mcp",
  "metadata",
  "permission",
  "plan",
  "plan_mode",
  "plugin",
  "plugin_command",
  "profile",
  "prompt",
  "runtime",
  "session",
  "shell",
  "skill",
  "subagent",
  "swarm_mode",
  "task",
  "thinking",
  "token_counting",
  "tool",
  "tools",
  "tower",
  "tower_mode",
  "turn",
  "usage",
]);

/** An answer that is being read. */
interface Step {
  readonly sourceId: string;
  readonly createdAt: number | null;
  readonly blocks: Block[];
}

class KimiRecords {
  /** The entry that the next one follows. */
  tip: string | null = null;
  readonly #problems: ProblemLog;
  readonly #ids = new ContentIds();
  /** By the id of a call. */
  readonly #names = new RecentMap<string, string>(KEPT_CALLS);
  /** What each prompt follows, for undoing. */
  readonly #prompts: (string | null)[] = [];
  #step: Step | undefined;
  /** Of the next answer. */
  #usage: Usage | null = null;
  #model: string | null = null;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** Whether lines of an answer wait for its other lines. */
  get isOpen(): boolean {
    return this.#step !== undefined;
  }

  *read({ record, line }: JsonRecord): Generator<ImportedEntry> {
    const type = nameOf(record["type"]);
    const message = record["message"];
    const event = record["event"];
    if (type === "context.append_message" && isPlainObject(message)) {
      yield* this.#message(record, message, line);
    } else if (type === "context.append_loop_event" && isPlainObject(event)) {
      yield* this.#loopEvent(record, event, line);
    } else if (type === "context.apply_compaction") {
      yield* this.#compaction(record);
    } else if (type === "context.undo") {
      yield* this.flush();
      this.#undo(countField(record, "count") ?? 0);
    } else if (type === "context.clear") {
      yield* this.flush();
      this.tip = null;
      this.#prompts.length = 0;
    } else if (type === "context.undone" || MARKS.has(type.split(".", 1)[0] ?? "")) {
      this.#problems.ignore(type);
      if (type === "llm.request") this.#model = textField(record, "model") ?? null;
      if (type === "usage.record") this.#usage = toUsage(objectField(record, "usage"));
    } else yield* this.#unknown(record, type, line);
  }

  /** The answer as far as it was read. */
  *flush(): Generator<ImportedEntry> {
    const step = this.#step;
    if (step === undefined) return;
    this.#step = undefined;
    const usage = this.#usage;
    this.#usage = null;
    const said = { role: "assistant" as const, actor: FORMAT, model: this.#model, usage };
    yield this.#follow({ ...step, kind: "message", ...said });
  }

  *#message(record: Fields, message: Fields, line: number): Generator<ImportedEntry> {
    yield* this.flush();
    const { role } = message;
    const origin = objectField(message, "origin");
    const fields = otherFields(message, ["role", "content", "id", "toolCalls", "toolCallId"]);
    const sourceId = textField(message, "id") ?? this.#ids.next(JSON.stringify(record));
    const blocks = toBlocks(FORMAT, message["content"]);
    const createdAt = timeField(record, "time");
    const base = { sourceId, kind: "message" as const, blocks, createdAt, fields };
    if (role === "user") {
      const isInjected = origin["kind"] === "injection";
      if (!isInjected) this.#prompts.push(this.tip);
      yield this.#follow({ ...base, role, ...(isInjected ? { marks: { injected: true } } : {}) });
    } else if (role === "assistant") {
      const calls = objectsIn(message["toolCalls"]).map((call) =>
        this.#call(call, "id", "arguments"),
      );
      yield this.#follow({ ...base, role, actor: FORMAT, blocks: [...blocks, ...calls] });
    } else if (role === "tool") {
      const output = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      yield this.#result(base, textField(message, "toolCallId") ?? "", output, message);
    } else yield* this.#unknown(record, `context.append_message of the role ${nameOf(role)}`, line);
  }

  *#loopEvent(record: Fields, event: Fields, line: number): Generator<ImportedEntry> {
    const type = nameOf(event["type"]);
    const createdAt = timeField(record, "time");
    const id = textField(event, "uuid");
    if (type === "step.begin" || type === "step.end") {
      if (type === "step.end") this.#usage ??= toUsage(objectField(event, "usage"));
      yield* this.flush();
      this.#usage = null;
    } else if (type === "content.part" && isPlainObject(event["part"])) {
      this.#add(id, createdAt, toBlocks(FORMAT, [event["part"]]));
    } else if (type === "tool.call") {
      this.#add(id, createdAt, [this.#call(event, "toolCallId", "args")]);
    } else if (type === "tool.result" && isPlainObject(event["result"])) {
      yield* this.flush();
      const { result } = event;
      const call = textField(event, "toolCallId") ?? "";
      const sourceId = `${textField(event, "parentUuid") ?? call}-result`;
      const fields = otherFields(result, ["output", "isError"]);
      const base = { sourceId, kind: "message" as const, createdAt, fields };
      const { output } = result;
      const text =
        typeof output === "string"
          ? output
          : toBlocks(FORMAT, output)
              .map((block) => (block.type === "text" ? block.text : ""))
              .join("\n");
      yield this.#result(base, call, text, result);
    } else yield* this.#unknown(record, `context.append_loop_event of the type ${type}`, line);
  }

  #add(id: string | undefined, createdAt: number | null, blocks: readonly Block[]): void {
    const sourceId = id ?? this.#ids.next(JSON.stringify(blocks));
    this.#step ??= { sourceId, createdAt, blocks: [] };
    this.#step.blocks.push(...blocks);
  }

  #call(fields: Fields, idName: string, inputName: string): Block {
    const id = textField(fields, idName) ?? "";
    const name = nameOf(fields["name"] ?? "");
    this.#names.set(id, name);
    const input = fields[inputName] ?? {};
    return {
      type: "tool_use",
      id,
      name,
      input: typeof input === "string" ? input : JSON.stringify(input),
    };
  }

  #result(base: EntryDraft, id: string, output: string, { isError }: Fields): ImportedEntry {
    const name = this.#names.get(id);
    const blocks = [resultBlock(id, name, output, isError === true)];
    return this.#follow({ ...base, role: "tool", actor: name ?? null, blocks });
  }

  *#compaction(record: Fields): Generator<ImportedEntry> {
    yield* this.flush();
    const { summary } = record;
    const text = textField(record, "contextSummary") ?? summary;
    const content = isPlainObject(text) ? text["content"] : text;
    yield this.#follow({
      sourceId: this.#ids.next(JSON.stringify(record)),
      kind: "compaction",
      blocks: toBlocks(FORMAT, content),
      data: { firstKeptEntryId: null, tokensBefore: countField(record, "tokensBefore") ?? null },
      createdAt: timeField(record, "time"),
      fields: otherFields(record, ["type", "time", "agentId", "summary", "contextSummary"]),
    });
    // The program does not undo beyond it.
    this.#prompts.length = 0;
  }

  #undo(count: number): void {
    const removed = count > 0 ? this.#prompts.splice(-count) : [];
    if (removed[0] !== undefined) [this.tip] = removed;
  }

  *#unknown(record: Fields, type: string, line: number): Generator<ImportedEntry> {
    this.#problems.add("unexpected", `a record ${type} was kept as custom data`, line);
    const id = this.#ids.next(JSON.stringify(record));
    const data = otherFields(record, ["time"]);
    const custom = toCustomEntry(FORMAT, id, "record", data, timeField(record, "time"));
    yield { ...custom, parentSourceId: this.tip };
  }

  #follow(draft: EntryDraft): ImportedEntry {
    const parentSourceId = this.tip;
    this.tip = draft.sourceId;
    return toImportedEntry(FORMAT, { ...draft, parentSourceId });
  }
}

function toUsage(usage: Fields): Usage | null {
  const count = (name: string) => countField(usage, name) ?? 0;
  if (countField(usage, "output") === undefined) return null;
  return {
    inputTokens: count("inputOther"),
    outputTokens: count("output"),
    cacheCreationTokens: count("inputCacheCreation"),
    cacheReadTokens: count("inputCacheRead"),
  };
}
