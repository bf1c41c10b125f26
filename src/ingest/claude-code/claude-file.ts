/** Reads a file of Claude Code: maps each line to entries with their places. */

import { textOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { type SourceFields, toSourceMetadata } from "../../transcript/source-fields.ts";
import { KEPT_CALLS, KEPT_IDS } from "../batches.ts";
import { KnownIds } from "../drafts.ts";
import { type Fields, isEmpty, textField, type Writable } from "../fields.ts";
import type { JsonRecord } from "../jsonl.ts";
import type { LineCounter } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";
import { isSnapshot } from "../snapshots.ts";
import type { ImportedEntry, SourceInput } from "../source.ts";
import {
  type LineContext,
  type MappedEntry,
  type MappedMessage,
  toAttachedPrompt,
  toCompaction,
  toCustom,
  toDeliveredPrompt,
  toMessage,
} from "./claude-lines.ts";
import { ClaudeOutputs } from "./claude-outputs.ts";
import { ClaudeQueue, type QueuedPrompt } from "./claude-queue.ts";
import { type ClaudeHeader, ClaudeTitle, FORMAT } from "./claude-session.ts";
import { ClaudeTree, MAIN } from "./claude-tree.ts";
import { UsageWindow } from "./claude-usage.ts";

/** Limits of open calls and boundaries that are saved in the resume state. */
const OPEN_CALLS = 100;
const BOUNDARIES = 4;

/** The limit of boundaries that wait for their summaries, which usually follow directly. */
const WAITING_BOUNDARIES = 64;

export class ClaudeFile {
  readonly #header: ClaudeHeader;
  readonly #problems: ProblemLog;
  readonly #tree: ClaudeTree;
  readonly #ids: KnownIds;
  readonly #usage: UsageWindow;
  readonly #title: ClaudeTitle;
  readonly #queue: ClaudeQueue;
  /** Tool names of open calls. */
  readonly #toolNames: RecentMap<string, string>;
  /** Lines with a compaction boundary, by uuid. */
  readonly #boundaries: RecentMap<string, Fields>;
  /** Ids of custom entries without a uuid: hashes of their content. */
  readonly #customIds = new RecentMap<string, true>(KEPT_IDS);
  readonly #lines: LineCounter;
  readonly #context: LineContext;
  readonly #outputs: ClaudeOutputs;
  readonly #has = (uuid: string): boolean => this.#tree.nodeAt(uuid) !== undefined;
  #endsAside: boolean;

  constructor(
    header: ClaudeHeader,
    problems: ProblemLog,
    lines: LineCounter,
    input: Pick<SourceInput, "path" | "files">,
    state: JsonObject = {},
  ) {
    this.#header = header;
    this.#problems = problems;
    this.#tree = ClaudeTree.from(state["tree"]);
    this.#ids = new KnownIds(problems);
    this.#usage = new UsageWindow(state["usage"]);
    this.#title = new ClaudeTitle(state["title"]);
    this.#queue = new ClaudeQueue(state["queue"]);
    const calls = (state["calls"] ?? []) as unknown as [string, string][];
    this.#toolNames = new RecentMap(KEPT_CALLS, calls);
    const boundaries = (state["boundaries"] ?? []) as unknown as [string, Fields][];
    this.#boundaries = new RecentMap(WAITING_BOUNDARIES, boundaries);
    this.#lines = lines;
    this.#outputs = new ClaudeOutputs(input, problems);
    this.#context = { toolNames: this.#toolNames, common: header.common };
    this.#endsAside = state["endsAside"] === true;
  }

  async *read(
    ahead: readonly JsonRecord[],
    rest: AsyncIterable<Iterable<JsonRecord>>,
  ): AsyncGenerator<Iterable<ImportedEntry>> {
    yield* this.#outputs.fill(this.#batch(ahead));
    for await (const records of rest) yield* this.#outputs.fill(this.#batch(records));
    yield* this.#outputs.fill(this.#usage.end());
  }

  #batch(records: Iterable<JsonRecord>): ImportedEntry[] {
    const given: ImportedEntry[] = [];
    for (const record of records) this.#line(record, given);
    return given;
  }

  /** The conversation continues from its own last entry, whatever a sub-agent wrote after it. */
  get leaf(): string | undefined {
    return this.#endsAside ? (this.#tree.lastNode(MAIN) ?? undefined) : undefined;
  }

  /** Valid after the last line. Undefined if ids repeat: then only the whole file tells them apart. */
  state(): JsonObject | undefined {
    if (this.#ids.areMasked) return undefined;
    return {
      tree: this.#tree.state(),
      usage: this.#usage.state(),
      title: this.#title.state(),
      calls: [...this.#toolNames].slice(-OPEN_CALLS),
      boundaries: [...this.#boundaries].slice(-BOUNDARIES) as unknown as JsonObject[],
      endsAside: this.#endsAside,
      queue: this.#queue.state(),
    };
  }

  #line({ record, line }: JsonRecord, given: ImportedEntry[]): void {
    if (!this.#lines.take(line)) return;
    const uuid = textField(record, "uuid") || undefined;
    if (uuid !== undefined && !this.#ids.isNew(uuid, contentOf(record), line)) return;
    const { type } = record;
    // Copies of files and of other lines.
    if (type === "progress" || isSnapshot(type)) {
      this.#problems.ignore(type);
      if (uuid !== undefined) this.#place(record, uuid, [], line);
    } else if (record["isCompactSummary"] === true) {
      this.#compaction(record, line, given);
    } else {
      const message =
        type === "attachment"
          ? toAttachedPrompt(record, this.#context)
          : toMessage(record, this.#context);
      if (message !== undefined) this.#message(record, message, line, given);
      else this.#custom(record, line, given);
    }
  }

  #message(record: Fields, message: MappedMessage, line: number, given: ImportedEntry[]): void {
    const id = idOf(record, line);
    const { entries, answer } = message;
    if (!this.#isAside(record)) this.#deliverBefore(record, message, given);
    const ids = entries.map((_, i) => (i === 0 ? id : `${id}#${i + 1}`));
    let parent: string | null | undefined = this.#place(record, id, ids, line, message);
    this.#noteCalls(message);
    for (let i = 0; i < entries.length; i++) {
      const sourceId = ids[i] ?? id;
      const entry = this.#entry(record, entries[i] as MappedEntry, sourceId, parent);
      if (entry.role === "tool") this.#outputs.note(entry, record, line);
      this.#usage.add(entry, answer, given);
      parent = sourceId;
    }
    this.#titles(record, id, given);
  }

  #compaction(record: Fields, line: number, given: ImportedEntry[]): void {
    // An attachment may stand between the boundary and its summary.
    const [newest] = [...this.#boundaries.keys()].slice(-1);
    const key = textField(record, "parentUuid") ?? "";
    const named = this.#boundaries.has(key) ? key : (newest ?? "");
    const boundary = this.#boundaries.get(named);
    this.#boundaries.delete(named);
    const compaction = toCompaction(record, boundary, (uuid) => this.#tree.nodeAt(uuid));
    if (compaction === undefined) {
      this.#custom(record, line, given);
      return;
    }
    const id = idOf(record, line);
    if (!this.#isAside(record)) this.#deliver(this.#queue.beforeAnswer(), record, given);
    const parent = this.#place(record, id, [id], line);
    // Kept messages precede the summary here; their successors in the file follow the summary.
    for (const tail of compaction.tails) this.#tree.redirect(tail, id);
    this.#usage.add(this.#entry(record, compaction.entry, id, parent), undefined, given);
  }

  #custom(record: Fields, line: number, given: ImportedEntry[]): void {
    const { type } = record;
    if (typeof type !== "string") {
      this.#problems.add("unexpected", "a line without a type was kept as custom data", line);
    } else if (type === "user" || type === "assistant") {
      const message = `a line of the type ${type} without a message was kept as custom data`;
      this.#problems.add("unexpected", message, line);
    }
    const uuid = textField(record, "uuid") || undefined;
    const id = uuid ?? `note-${contentId(record)}`;
    if (this.#customIds.has(id)) return;
    if (uuid === undefined) this.#customIds.set(id, true);
    if (type === "queue-operation") this.#queue.operate(record, id);
    if (record["subtype"] === "compact_boundary") {
      this.#boundaries.set(id, record);
      if (!this.#isAside(record)) this.#deliver(this.#queue.beforeAnswer(), record, given);
    }
    const parent =
      uuid === undefined ? this.#tree.lastNode(MAIN) : this.#place(record, uuid, [], line);
    this.#usage.add(this.#entry(record, toCustom(record), id, parent), undefined, given);
    this.#titles(record, id, given);
  }

  /** Queued prompts that the model got before this line. */
  #deliverBefore(record: Fields, message: MappedMessage, given: ImportedEntry[]): void {
    const { entries, answer, results } = message;
    const last = entries.at(-1);
    if (last?.role === "assistant") {
      const isNew = answer === undefined || !this.#tree.hasAnswer(answer);
      if (isNew) this.#deliver(this.#queue.beforeAnswer(), record, given);
    } else if (record["type"] === "attachment") {
      this.#queue.noteAttached(textOf(last?.blocks ?? []));
    } else if (results.length > 0) this.#queue.noteResults();
    else if (last?.metadata["injected"] === true) {
      this.#queue.noteShown(textOf(last.blocks));
    } else {
      this.#deliver(this.#queue.beforePrompt(textOf(last?.blocks ?? [])), record, given);
    }
  }

  /** Later lines with the same parent follow the last prompt. */
  #deliver(prompts: readonly QueuedPrompt[], record: Fields, given: ImportedEntry[]): void {
    const named = parentOf(record);
    const isKnown = typeof named === "string" && this.#has(named);
    for (const prompt of prompts) {
      const sourceId = `queued-${prompt.id}`;
      const place = { uuid: sourceId, nodes: [sourceId], chain: MAIN };
      const { parent } = this.#tree.add({ ...place, parentUuid: isKnown ? named : undefined });
      const entry = this.#entry({}, toDeliveredPrompt(prompt), sourceId, parent);
      this.#usage.add(entry, undefined, given);
      if (isKnown) this.#tree.redirect(named, sourceId);
    }
  }

  /** The title, if the line gives one, or completes an earlier summary. */
  #titles(record: Fields, id: string, given: ImportedEntry[]): void {
    const entry = this.#title.of(record, id, this.#has);
    if (entry === undefined) return;
    this.#usage.add({ ...entry, parentSourceId: this.#tree.lastNode(MAIN) }, undefined, given);
  }

  #isAside(record: Fields): boolean {
    return record["isSidechain"] === true && !this.#header.isAgent;
  }

  #place(
    record: Fields,
    id: string,
    nodes: readonly string[],
    line: number,
    parts: Partial<MappedMessage> = {},
  ): string | null | undefined {
    const isAside = this.#isAside(record);
    const chain = isAside ? `aside ${textField(record, "agentId") ?? ""}` : MAIN;
    const named = parentOf(record);
    const { parent, found, isFirst } = this.#tree.add({
      uuid: id,
      parentUuid: named,
      nodes,
      chain,
      answer: parts.answer,
      isSynthetic: parts.isSynthetic ?? false,
      calls: parts.calls ?? [],
      results: parts.results ?? [],
    });
    if (!found) {
      const message = `its parent ${named} does not precede it; attached to the previous entry`;
      this.#problems.add("missing_parent", message, line);
    }
    if (nodes.length === 0) return parent;
    this.#endsAside = isAside;
    return isFirst ? undefined : parent;
  }

  #entry(
    record: Fields,
    mapped: MappedEntry,
    sourceId: string,
    parent: string | null | undefined,
  ): ImportedEntry {
    const { fields, references, answer } = mapped;
    const parentId = parentOf(record);
    // Assigning fields after a spread is slow, and every entry comes here.
    const source: Writable<SourceFields> = {
      format: FORMAT,
      id: textField(record, "uuid") ?? null,
    };
    if (parentId !== undefined && parentId !== (parent ?? null)) source.parentId = parentId;
    if (!isEmpty(fields)) source.fields = fields;
    const own = toSourceMetadata(source);
    const entry: Writable<ImportedEntry> = {
      sourceId,
      kind: mapped.kind,
      role: mapped.role,
      actor: mapped.actor,
      blocks: mapped.blocks,
      data: mapped.data,
      usage: mapped.usage,
      model: mapped.model,
      createdAt: mapped.createdAt,
      metadata: isEmpty(mapped.metadata) ? own : { ...own, ...mapped.metadata },
    };
    // The first line of a file attaches to the session's stored entries.
    if (parent !== undefined) entry.parentSourceId = parent;
    if (references !== undefined) entry.references = references;
    if (answer !== undefined) entry.answer = answer;
    return entry;
  }

  #noteCalls({ entries, results }: MappedMessage): void {
    for (const id of results) this.#toolNames.delete(id);
    for (const { blocks } of entries) {
      for (const block of blocks) {
        if (block.type === "tool_use") this.#toolNames.set(block.id, block.name);
      }
    }
  }
}

/** A summary's boundary has no parent in the file; `logicalParentUuid` names its predecessor. */
function parentOf(record: Fields): string | null | undefined {
  const logical = textField(record, "logicalParentUuid");
  const { parentUuid } = record;
  if (typeof parentUuid === "string" && parentUuid !== "") return parentUuid;
  if (logical !== undefined && logical !== "") return logical;
  return parentUuid === null ? null : undefined;
}

/** The fields of a line that copies of it share: not its session, nor its place in the tree. */
function contentOf(record: Fields): unknown {
  const {
    sessionId: _,
    parentUuid: __,
    cwd: ___,
    version: ____,
    gitBranch: _____,
    ...rest
  } = record;
  return rest;
}

/**
 * The id of a message: its uuid, or its line with a hash of its content, because two files may be
 * one session.
 */
function idOf(record: Fields, line: number): string {
  return textField(record, "uuid") || `record-${line}-${contentId(record)}`;
}

function contentId(record: Fields): string {
  return toHex(sha256(Buffer.from(JSON.stringify(record)))).slice(0, 16);
}
