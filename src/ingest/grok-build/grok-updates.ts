/**
 * Updates of a session of Grok Build, as messages: those of the Agent Client Protocol, and the
 * program's own.
 *
 * Taking back a prompt is an update too: what follows it is a branch.
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
  toImageBlock,
  toPromptUsage,
} from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { ProblemLog } from "../problems.ts";
import { type ImportedEntry, UNREADABLE_SUMMARY } from "../source.ts";

export const FORMAT = "grok-build";

/** Updates with the program's state, or with what another one has in full. */
const STATE: ReadonlySet<string> = new Set(
  [
    "auto_compact_cancelled auto_compact_completed auto_compact_failed auto_compact_started",
    "auto_continue_completed auto_recovery_exhausted auto_recovery_started available_commands_update",
    "background_tasks config_option_update current_mode_update feedback_request goal_updated",
    "hook_annotation hook_execution hooks_changed image_compressed memory_dream_completed",
    "memory_files memory_flush_completed memory_flush_started memory_session_saved plan",
    "plugin_updates_installed plugins_changed reasoning_completed relay_sync_status response_completed",
    "response_started retry_state session_info_update session_recap_unavailable session_status",
    "session_summary_generated subagent_progress task_backgrounded usage_update workflow_updated",
  ].flatMap((names) => names.split(" ")),
);

/** The number of calls and prompts in the resume state, which must stay small. */
const KEPT_STATE = 256;

/** Dollars of a unit of cost. */
const TICK = 1e-10;

/** A message that is being read. */
interface Open {
  readonly draft: EntryDraft;
  readonly blocks: Block[];
  /** The prompt that its chunks name. */
  readonly prompt: unknown;
}

export class GrokUpdates {
  /** The entry that the next one follows. */
  tip: string | null;
  /** Whether a resumed reading met a reference to an unknown prompt. */
  isLost = false;
  /** The tokens of a sub-agent are in those of its caller's turn. */
  isSubagent = false;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #readCheckpoint: (name: string) => Promise<string | undefined>;
  readonly #isResumed: boolean;
  /** Tools, by the id of a call. */
  readonly #names: RecentMap<string, string>;
  /** What each prompt follows. */
  readonly #prompts: Map<number, string | null>;
  #model: string | null;
  #open: Open | undefined;

  constructor(
    problems: ProblemLog,
    resume: JsonObject | undefined,
    readCheckpoint: (name: string) => Promise<string | undefined>,
  ) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    this.#readCheckpoint = readCheckpoint;
    this.#isResumed = resume !== undefined;
    const state: Fields = isPlainObject(resume?.["records"]) ? resume["records"] : {};
    this.#names = new RecentMap(KEPT_CALLS, pairs(state["names"]) as [string, string][]);
    this.#prompts = new Map(pairs(state["prompts"]) as [number, string | null][]);
    this.tip = textField(state, "tip") ?? null;
    this.#model = textField(state, "model") ?? null;
  }

  /** Whether updates of a message wait for its other ones. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Undefined in the middle of a message, or if ids repeat: then only the whole file tells. */
  state(): JsonObject | undefined {
    if (this.isOpen || this.#ids.areMasked) return undefined;
    return {
      tip: this.tip,
      model: this.#model,
      names: [...this.#names].slice(-KEPT_STATE) as unknown as JsonValue,
      prompts: [...this.#prompts].slice(-KEPT_STATE) as unknown as JsonValue,
    };
  }

  async *read({ record, line }: JsonRecord): AsyncGenerator<ImportedEntry> {
    const params = objectField(record, "params");
    const update = objectField(params, "update");
    const meta = objectField(params, "_meta");
    const seconds = record["timestamp"];
    const createdAt =
      timeField(meta, "agentTimestampMs") ??
      (typeof seconds === "number" ? timeField({ at: seconds * 1000 }, "at") : null);
    // Events are counted anew by each process.
    const number = /-(\d+)$/.exec(textField(meta, "eventId") ?? "")?.[1];
    const sourceId = number === undefined ? `line-${line}` : `event-${number}-${createdAt ?? 0}`;
    const type = nameOf(update["sessionUpdate"]);
    if (STATE.has(type)) this.#problems.ignore(type);
    else if (!this.#ids.isNew(sourceId, update, line)) return;
    else yield* this.#update(type, update, meta, { sourceId, createdAt }, line);
  }

  /** The message as far as it was read. */
  *flush(more: Partial<EntryDraft> = {}): Generator<ImportedEntry> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    yield this.#follow({ ...open.draft, blocks: joinTexts(open.blocks), ...more });
  }

  async *#update(
    type: string,
    update: Fields,
    meta: Fields,
    base: Pick<EntryDraft, "sourceId"> & { readonly createdAt: number | null },
    line: number,
  ): AsyncGenerator<ImportedEntry> {
    switch (type) {
      case "user_message_chunk":
        yield* this.#prompt(update, base);
        return;
      case "agent_thought_chunk":
      case "agent_message_chunk": {
        const content = toBlocks([update["content"]]);
        const isThought = type === "agent_thought_chunk";
        yield* this.#say(
          meta["promptId"],
          base,
          content.map((block) => asThought(block, isThought)),
        );
        return;
      }
      case "tool_call":
        yield* this.#call(update, meta, base);
        yield* this.#result(update, base);
        return;
      case "tool_call_update":
        if (update["status"] === undefined) this.#problems.ignore(type);
        yield* this.#result(update, base);
        return;
      case "turn_completed":
        yield* this.#endTurn(update, base);
        return;
      case "rewind_marker":
        yield* this.flush();
        this.#rewind(countField(update, "target_prompt_index"));
        return;
      case "model_changed":
      case "model_auto_switched":
        this.#model =
          textField(update, "model_id") ?? textField(update, "new_model_id") ?? this.#model;
        this.#problems.ignore(type);
        return;
      case "compaction_checkpoint": {
        yield* this.flush();
        const summary = await this.#readCheckpoint(textField(update, "checkpoint_file") ?? "");
        const unreadable = summary === undefined ? { [UNREADABLE_SUMMARY]: true } : {};
        const data = { firstKeptEntryId: null, tokensBefore: null, ...unreadable };
        const blocks: Block[] = [{ type: "text", text: summary ?? "The summary is gone." }];
        yield this.#follow({ ...base, kind: "compaction", blocks, data });
        return;
      }
      default:
        if (!NOTES.includes(type)) {
          this.#problems.add("unexpected", `an update of the type ${type} is custom data`, line);
        }
        yield this.#note(type, update, base);
    }
  }

  #note(
    type: string,
    update: Fields,
    base: { sourceId: string; createdAt: number | null },
  ): ImportedEntry {
    const data = otherFields(update, ["sessionUpdate"]);
    const custom = toCustomEntry(FORMAT, base.sourceId, type, data, base.createdAt);
    return { ...custom, parentSourceId: this.tip };
  }

  *#prompt(update: Fields, base: EntryBase): Generator<ImportedEntry> {
    const meta = objectField(update, "_meta");
    const index = countField(meta, "promptIndex");
    const blocks = toBlocks([update["content"]]);
    const isSame = this.#open?.draft.role === "user" && this.#open.prompt === index;
    if (isSame && index !== undefined) {
      this.#open?.blocks.push(...blocks);
      return;
    }
    yield* this.flush();
    this.#model = textField(meta, "modelId") ?? this.#model;
    if (index !== undefined) this.#prompts.set(index, this.tip);
    const isInjected = meta["hideFromScrollback"] === true;
    const marks = isInjected ? { marks: { injected: true } } : {};
    const draft: EntryDraft = { ...base, kind: "message", role: "user", ...marks };
    this.#open = { draft, blocks, prompt: index };
  }

  *#say(prompt: unknown, base: EntryBase, blocks: readonly Block[]): Generator<ImportedEntry> {
    if (this.#open?.draft.role !== "assistant" || this.#open.prompt !== prompt) {
      yield* this.flush();
      const said = { role: "assistant" as const, actor: FORMAT, model: this.#model };
      this.#open = { draft: { ...base, ...said, kind: "message" }, blocks: [], prompt };
    }
    this.#open?.blocks.push(...blocks);
  }

  *#call(update: Fields, meta: Fields, base: EntryBase): Generator<ImportedEntry> {
    const id = nameOf(update["toolCallId"] ?? "");
    const tool = objectField(objectField(update, "_meta"), "x.ai/tool");
    const name = textField(tool, "name") ?? nameOf(update["title"] ?? update["kind"] ?? "");
    this.#names.set(id, name);
    const input = JSON.stringify(update["rawInput"] ?? {});
    yield* this.#say(meta["promptId"], base, [{ type: "tool_use", id, name, input }]);
  }

  *#result(update: Fields, base: EntryBase): Generator<ImportedEntry> {
    const { status } = update;
    if (status !== "completed" && status !== "failed") return;
    yield* this.flush();
    const id = nameOf(update["toolCallId"] ?? "");
    const name = this.#names.get(id);
    const raw = objectField(update, "rawOutput");
    const exit = countField(raw, "exit_code") ?? countField(raw, "exitCode");
    const content = objectsIn(update["content"]).map((part) => part["content"] ?? part);
    const blocks = toBlocks(content);
    const areTexts = blocks.every(({ type }) => type === "text");
    const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    // The text that the model saw says more than the one that was shown.
    const output = textField(raw, "output_for_prompt") ?? (areTexts ? text : blocks);
    const isError = status === "failed" || (exit !== undefined && exit !== 0);
    const sourceId = `${base.sourceId}-result`;
    yield this.#follow({
      ...base,
      sourceId,
      kind: "message",
      role: "tool",
      actor: name ?? null,
      blocks: [resultBlock(id, name, output, isError)],
      ...(exit === undefined ? {} : { fields: { exitCode: exit } }),
    });
  }

  *#endTurn(update: Fields, base: EntryBase): Generator<ImportedEntry> {
    const { usage } = update;
    const rows = isPlainObject(usage) ? toRows(usage, this.#model) : [];
    const own = rows.find(({ model }) => model === this.#model) ?? rows[0];
    const isCounted = !this.isSubagent;
    const hasAnswer = this.#open?.draft.role === "assistant";
    if (hasAnswer && own !== undefined) {
      yield* this.flush(isCounted ? own : { fields: { usage: usage as JsonObject } });
    } else yield* this.flush();
    for (const [i, row] of rows.entries()) {
      if (!isCounted || (hasAnswer && row === own)) continue;
      const data = { type: `${FORMAT}:usage` };
      const sourceId = `${base.sourceId}-usage-${i}`;
      const draft: EntryDraft = { ...base, ...row, sourceId, kind: "custom", data };
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: this.tip });
    }
    // A turn that ended well repeats its answer.
    if (update["stop_reason"] === "end_turn") this.#problems.ignore("turn_completed");
    else yield this.#note("turn_completed", otherFields(update, ["usage"]), base);
  }

  #rewind(target: number | undefined): void {
    if (target === undefined) return;
    const before = this.#prompts.get(target);
    if (before === undefined) {
      if (this.#isResumed) this.isLost = true;
      else
        this.#problems.add(
          "missing_reference",
          `prompt ${target} was taken back, but is not in the file`,
        );
      return;
    }
    this.tip = before;
    for (const index of [...this.#prompts.keys()]) {
      if (index >= target) this.#prompts.delete(index);
    }
  }

  #follow(draft: EntryDraft): ImportedEntry {
    const parentSourceId = this.tip;
    this.tip = draft.sourceId;
    return toImportedEntry(FORMAT, { ...draft, parentSourceId });
  }
}

type EntryBase = Pick<EntryDraft, "sourceId"> & { readonly createdAt: number | null };

/** Events of the program that belong to the conversation, kept as custom data. */
const NOTES: readonly string[] = [
  "diff_review",
  "image_dropped",
  "monitor_event",
  "scheduled_task_created",
  "scheduled_task_deleted",
  "scheduled_task_fired",
  "session_recap",
  "subagent_finished",
  "subagent_spawned",
  "task_completed",
];

function toBlocks(content: readonly unknown[]): Block[] {
  return toContentBlocks(FORMAT, content, (part) =>
    part["type"] === "image" ? toImageBlock(part) : undefined,
  );
}

function asThought(block: Block, isThought: boolean): Block {
  return isThought && block.type === "text" ? { type: "thinking", text: block.text } : block;
}

/** Chunks of one text, or of one thought, are one. */
function joinTexts(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    const isText = block.type === "text" || block.type === "thinking";
    if (isText && last !== undefined && last.type === block.type) {
      joined.splice(-1, 1, { ...last, text: last.text + block.text });
    } else joined.push(block);
  }
  return joined;
}

/** Tokens and cost by model. */
function toRows(
  usage: Fields,
  model: string | null,
): readonly Pick<EntryDraft, "usage" | "model" | "cost">[] {
  const models = Object.entries(objectField(usage, "modelUsage")).filter(([, row]) =>
    isPlainObject(row),
  );
  const rows = models.length > 0 ? models : [[model, usage] as const];
  return rows.map(([name, row]) => {
    const fields: Fields = isPlainObject(row) ? row : {};
    const count = (field: string) => countField(fields, field) ?? 0;
    const ticks = count("costUsdTicks");
    return {
      model: name,
      usage: toPromptUsage(
        count("inputTokens"),
        count("outputTokens"),
        count("cachedReadTokens"),
        count("cacheCreationTokens"),
      ),
      ...(ticks === 0 ? {} : { cost: ticks * TICK }),
    };
  });
}

function pairs(value: unknown): [unknown, unknown][] {
  return (Array.isArray(value) ? value : []).filter(
    (pair): pair is [unknown, unknown] => Array.isArray(pair) && pair.length === 2,
  );
}
