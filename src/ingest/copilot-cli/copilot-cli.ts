/**
 * Session files of GitHub Copilot CLI: `events.jsonl`, a line per event.
 *
 * Events name their predecessor, but the file is linear: only sub-agents branch, and their messages
 * name the call that started them. They become branches of that call's message.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { type EntryDraft, KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  countField,
  type Fields,
  objectField,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { ResumedLines, readRecords } from "../jsonl.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import {
  FORMAT,
  type MessageDraft,
  toAssistantMessage,
  toRunUsage,
  toSystemMessage,
  toToolMessage,
  toUserMessage,
} from "./copilot-message.ts";

export const COPILOT_CLI: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const root = folderOf(environment, "COPILOT_HOME", joinPath(environment.home, ".copilot"));
    const flat = /^[^/]+\.jsonl$/;
    return [
      {
        root: joinPath(root, "session-state"),
        matches: (path) => /^[^/]+\/events\.jsonl$/.test(path) || flat.test(path),
        matchesPart: (path) => /^[^/]+\/workspace\.yaml$/.test(path),
        // Checkpoints and files of the session, not its events.
        skips: (path) => path.split("/").length > 1,
      },
      { root: joinPath(root, "history-session-state"), matches: (path) => flat.test(path) },
    ];
  },

  recognise(head) {
    const first = firstRecord(head);
    if (first !== undefined) return isEvent(first);
    const text = textOfHead(head);
    return /^\s*\{[^\n]{0,200}"type"\s*:\s*"(session\.(start|resume)|user\.message)"/.test(text);
  },

  read(input) {
    const problems = new ProblemLog();
    const events = new CopilotEvents(problems, input.resume);
    let session: JsonObject = isPlainObject(input.resume?.["session"])
      ? (input.resume["session"] as JsonObject)
      : {};
    const lines = new ResumedLines(() => {
      const state = events.state();
      return state === undefined ? undefined : { session, events: state };
    });
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const records = readRecords(lines.read(input.lines), problems);
      const { value: first, done } = await records.next();
      if (done) return;
      if (Object.keys(session).length === 0) {
        if (first.record["type"] !== "session.start") {
          problems.add("missing_header", "the file begins without session.start", first.line);
        }
        session = describe(first.record);
      }
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* events.read(first.record, first.line);
        for await (const { record, line } of records) yield* events.read(record, line);
        yield* events.end();
      }
      const known = toSession(session, input.path);
      const title = known.title ?? (await readTitle(input));
      yield { ...known, title, entries: entries(), leaf: () => events.leaf, problems };
    }
    return { sessions: sessions(), problems, state: () => lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("copilot --resume ", id),
};

/** An event has a dotted name and its data. */
function isEvent(record: Fields): boolean {
  const type = textField(record, "type") ?? "";
  return /^[a-z_]+\.[a-z_.]+$/.test(type) && isPlainObject(record["data"]);
}

/** The session's fields in its first event. */
function describe(record: Fields): JsonObject {
  const isStart = record["type"] === "session.start" || record["type"] === "session.resume";
  const data = isStart ? objectField(record, "data") : {};
  return { known: true, data: data as JsonObject, at: timeField(record, "timestamp") };
}

function toSession(
  described: JsonObject,
  path: string,
): Omit<ImportedSession, "entries" | "problems"> {
  const data = objectField(described, "data");
  const context = objectField(data, "context");
  const name = fileName(path);
  const folder = name === "events.jsonl" ? folderName(path) : name.replace(/\.jsonl$/, "");
  return toImportedSession(FORMAT, {
    id: textField(data, "sessionId") ?? (folder === "" ? null : folder),
    cwd: textField(context, "cwd") || null,
    gitBranch: textField(context, "branch") || null,
    startedAt: timeField(data, "startTime") ?? timeField(described, "at"),
    parentSession: textField(data, "parentSessionId") ?? null,
    fields: otherFields(data, ["sessionId", "startTime"]),
  });
}

/** The session's name, from the user or the agent, in a companion file. */
async function readTitle({ files }: SourceInput): Promise<string | null> {
  const yaml = await files?.readText("workspace.yaml", 64 * 1024);
  const [, name] = /^(?:name|summary):[ \t]*(\S.*)$/m.exec(yaml ?? "") ?? [];
  const bare = name?.trim().replace(/^(["'])(.*)\1$/, "$2") ?? "";
  return bare === "" || /^[|>][+-]?$/.test(bare) ? null : bare;
}

/** Markers and chunks: another event has their content as a whole. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "assistant.turn_start",
  "assistant.turn_end",
  "assistant.message_start",
  "assistant.message_delta",
  "assistant.reasoning_delta",
  "assistant.streaming_delta",
  "tool.execution_start",
  "tool.execution_progress",
  "tool.execution_partial_result",
  "hook.start",
  "hook.end",
  "hook.progress",
  "pending_messages.modified",
]);

/** Known events that are no part of the conversation. They are kept as custom data. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...["start", "resume", "error", "idle", "info", "warning", "mode_changed", "plan_changed"].map(
    (name) => `session.${name}`,
  ),
  "session.workspace_file_changed",
  "session.handoff",
  "session.truncation",
  "session.snapshot_rewind",
  "session.context_changed",
  "session.usage_info",
  "session.compaction_start",
  "session.compaction_complete",
  "session.shutdown",
  "session.task_complete",
  "session.permissions_changed",
  "session.tools_updated",
  "session.skills_loaded",
  "session.background_tasks_changed",
  "session.custom_agents_updated",
  "session.extensions_loaded",
  "session.mcp_servers_loaded",
  "session.custom_notification",
  "session.mcp_server_status_changed",
  "session.import_legacy",
  "session.remote_steerable_changed",
  "session.schedule_created",
  "session.todos_changed",
  "permission.requested",
  "permission.completed",
  "system.notification",
  "abort",
  "subagent.started",
  "subagent.completed",
  "subagent.failed",
  "subagent.selected",
  "subagent.deselected",
  "skill.invoked",
  "tool.user_requested",
  "user_input.requested",
  "user_input.completed",
  "assistant.intent",
  "assistant.usage",
  "elicitation.requested",
  "elicitation.completed",
  "model.call_failure",
  "external_tool.requested",
  "external_tool.completed",
  "command.queued",
  "command.execute",
  "command.completed",
  "commands.changed",
  "exit_plan_mode.requested",
  "exit_plan_mode.completed",
]);

/** The limit of open calls and running sub-agents. The resume state has all of them. */
const OPEN_CALLS = 1000;

interface Thought {
  readonly id: string;
  readonly text: string;
  readonly at: number | null;
}

class CopilotEvents {
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  /** The last entry of the conversation, and of each sub-agent by the call that started it. */
  readonly #tips: RecentMap<string, string>;
  /** Open calls: the tool's name and the calling message. */
  readonly #calls: RecentMap<string, readonly [name: string, message: string]>;
  /** A thought whose answer has not come yet. */
  #thought: Thought | undefined;
  /** Output tokens reported by messages since the last shutdown, by model. */
  readonly #countedOutput: Map<string, number>;

  constructor(problems: ProblemLog, resume: JsonObject | undefined) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    const state: Fields = isPlainObject(resume?.["events"]) ? resume["events"] : {};
    this.#tips = new RecentMap(OPEN_CALLS, pairs(state["tips"]) as [string, string][]);
    this.#calls = new RecentMap(OPEN_CALLS, pairs(state["calls"]) as [string, [string, string]][]);
    const thought = objectField(state, "thought");
    const [id, text] = [textField(thought, "id"), textField(thought, "text")];
    if (id !== undefined && text !== undefined) {
      this.#thought = { id, text, at: timeField(thought, "at") };
    }
    this.#countedOutput = new Map(pairs(state["output"]) as [string, number][]);
  }

  /** Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return presentFields({
      tips: [...this.#tips] as unknown as JsonValue,
      calls: [...this.#calls] as unknown as JsonValue,
      thought: this.#thought as unknown as JsonValue,
      output: [...this.#countedOutput] as unknown as JsonValue,
    });
  }

  get leaf(): string | undefined {
    return this.#tips.get("");
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    const type = textField(record, "type");
    const data = objectField(record, "data");
    if (type === undefined) {
      this.#problems.add("unexpected", "an event without a type was left out", line);
      return;
    }
    if (type === "tool.execution_start") this.#started(data);
    if (LEFT_OUT.has(type)) return;
    const id = textField(record, "id") ?? `event-${line}`;
    if (!this.#ids.isNew(id, record, line)) return;
    const createdAt = timeField(record, "timestamp");
    const thought = type === "assistant.reasoning" ? textField(data, "content") : undefined;
    if (thought !== undefined) {
      yield* this.end();
      this.#thought = { id, text: thought, at: createdAt };
      return;
    }
    const known = this.#toDraft(type, data);
    if (known === undefined && !BOOKKEEPING.has(type)) {
      const what = `an event of the type ${JSON.stringify(type)}`;
      this.#problems.add("unexpected", `${what} was kept as custom data`, line);
    }
    const draft = known ?? toCustom(type, data);
    const rest = otherFields(record, ["type", "data", "id", "timestamp", "parentId"]);
    const event = Object.keys(rest).length === 0 ? {} : { event: rest };
    const fields = { ...draft.fields, ...event };
    const entry = { ...draft, sourceId: id, createdAt, fields };
    if (type === "session.shutdown") yield* this.#shutdown(entry, data);
    else yield this.#placed(entry, data);
  }

  /**
   * The usage of a run that its messages have not reported: that of the current model on the event
   * itself, and an entry for each other model.
   */
  *#shutdown(entry: EntryDraft, data: Fields): Generator<ImportedEntry> {
    const used = toRunUsage(data, this.#countedOutput);
    this.#countedOutput.clear();
    const { sourceId: id, createdAt = null } = entry;
    const current = textField(data, "currentModel") ?? null;
    const own = used.find(({ model }) => model === current)?.usage ?? null;
    // Earlier versions stored the sum of all models with the event: the others share its answer.
    yield this.#placed({ ...entry, usage: own, model: current, answer: id }, data);
    for (const { model, usage } of used) {
      if (model === current) continue;
      const place = { sourceId: `${id}#${model}`, id: null, createdAt };
      const draft = { ...toCustom("usage", { model }), ...place, model, usage, answer: id };
      yield this.#placed(draft, {});
    }
  }

  #countOutput(data: Fields): void {
    const model = textField(data, "model") ?? "";
    const counted = this.#countedOutput.get(model) ?? 0;
    this.#countedOutput.set(model, counted + (countField(data, "outputTokens") ?? 0));
  }

  /** A thought without an answer is a message of its own. */
  *end(): Generator<ImportedEntry> {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    const blocks = [{ type: "thinking" as const, text: thought.text }];
    const place = { sourceId: thought.id, createdAt: thought.at };
    const draft = { kind: "message", role: "assistant", actor: FORMAT } as const;
    yield this.#placed({ ...draft, ...place, blocks }, {});
  }

  #toDraft(type: string, data: Fields): MessageDraft | undefined {
    switch (type) {
      case "user.message":
        return toUserMessage(data);
      case "system.message":
        return toSystemMessage(data);
      case "assistant.message": {
        const thought = this.#thought;
        this.#thought = undefined;
        this.#countOutput(data);
        return toAssistantMessage(data, thought?.text);
      }
      case "tool.execution_complete": {
        const [name] = this.#calls.get(textField(data, "toolCallId") ?? "") ?? [];
        return toToolMessage(data, name === "" ? undefined : name);
      }
      case "session.model_change": {
        const modelId = textField(data, "newModel");
        const fields = otherFields(data, ["newModel"]);
        return modelId === undefined
          ? undefined
          : { kind: "model_change", data: { modelId }, fields };
      }
      case "session.title_changed": {
        const name = textField(data, "title");
        return name === undefined ? undefined : { kind: "session_info", data: { name } };
      }
      case "system.notification": {
        const text = textField(data, "content");
        if (text === undefined) return undefined;
        // Injected by the agent: visible to the model, not the user's.
        const note = { type, display: true };
        const fields = otherFields(data, ["content"]);
        return { kind: "custom_message", blocks: [{ type: "text", text }], data: note, fields };
      }
      case "session.compaction_complete":
        return toCompaction(data);
      default:
        return undefined;
    }
  }

  #placed(draft: EntryDraft, data: Fields): ImportedEntry {
    const agent = textField(data, "parentToolCallId") ?? "";
    const callId = textField(data, "toolCallId") ?? "";
    const parent =
      this.#tips.get(agent) ?? this.#calls.get(agent)?.[1] ?? this.#tips.get("") ?? null;
    const entry = toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
    if (
      entry.kind === "message" ||
      entry.kind === "custom_message" ||
      entry.kind === "compaction"
    ) {
      this.#tips.set(agent, entry.sourceId);
    }
    for (const block of entry.blocks) {
      if (block.type === "tool_use") this.#calls.set(block.id, [block.name, entry.sourceId]);
    }
    if (entry.role === "tool") {
      this.#calls.delete(callId);
      // The call's sub-agent has ended.
      this.#tips.delete(callId);
    }
    return entry;
  }

  /** Some calls appear only when they start. */
  #started(data: Fields): void {
    const id = textField(data, "toolCallId");
    const name = textField(data, "toolName");
    if (id === undefined || name === undefined || this.#calls.has(id)) return;
    this.#calls.set(id, [name, this.#tips.get(textField(data, "parentToolCallId") ?? "") ?? ""]);
  }
}

function toCustom(type: string, data: Fields): MessageDraft {
  return { kind: "custom", data: { type: `${FORMAT}:${type}`, data: otherFields(data, []) } };
}

function toCompaction(data: Fields): MessageDraft | undefined {
  const summary = textField(data, "summaryContent");
  if (data["success"] === false || summary === undefined) return undefined;
  const tokensBefore = countField(data, "preCompactionTokens") ?? null;
  return {
    kind: "compaction",
    blocks: [{ type: "text", text: summary }],
    data: { firstKeptEntryId: null, tokensBefore },
    fields: otherFields(data, ["summaryContent", "preCompactionTokens"]),
  };
}

/** The pairs of a map stored as a list. */
function pairs(list: unknown): [unknown, unknown][] {
  return Array.isArray(list) ? list.filter((pair) => Array.isArray(pair) && pair.length === 2) : [];
}
