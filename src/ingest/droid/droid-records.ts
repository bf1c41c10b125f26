/**
 * Records of Droid: a header, messages in Anthropic's form that name their parents, and program
 * states.
 *
 * A notice to the user was not seen by the model: it is kept as custom data, and its children
 * follow the message before it. A compaction has no place in the tree: it follows the newest
 * message, whose later children follow the compaction.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { type EntryDraft, KnownIds, toCustomEntry, toImportedEntry } from "../drafts.ts";
import { type Fields, nameOf, otherFields, textField, timeField } from "../fields.ts";
import { KEPT_CALLS, KEPT_IDS } from "../kept-counts.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";

export const FORMAT = "droid";

/** Markers that repeat a call or an answer. */
const MARKS: readonly unknown[] = ["session_start", "todo_state", "agent_turn_outcome"];

/** The number of parents and calls in the resume state, which must stay small. */
const KEPT_STATE = 256;

export class DroidRecords {
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
      this.#goOn(id, parent);
      return;
    }
    if (!this.#ids.isNew(id, record, line)) return;
    const drafts = toDrafts(record, message, content, id);
    if (drafts === undefined) {
      this.#problems.add("unexpected", "a message without a role or content is custom data", line);
      const data = otherFields(record, ["type", "id", "timestamp"]);
      const custom = toCustomEntry(FORMAT, id, "message", data, timeField(record, "timestamp"));
      yield { ...custom, parentSourceId: parent };
      this.#goOn(id, parent);
      return;
    }
    let tip = parent;
    for (const draft of drafts.flatMap((each) => this.#split(each))) {
      if (draft.sourceId !== id && !this.#ids.isNew(draft.sourceId, draft, line)) continue;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: tip });
      if (draft.kind === "message") tip = draft.sourceId;
    }
    this.#goOn(id, tip);
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

  #goOn(id: string, tip: string | null): void {
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
