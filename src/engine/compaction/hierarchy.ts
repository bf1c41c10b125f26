/**
 * Hierarchical summaries: a size-tiered tree with a fan-in of four.
 *
 * Each compaction summarises only new messages and keeps earlier summaries. Once there are four of
 * one level, a summary of the next level replaces them in the context; they stay in the log as its
 * sources. So old detail fades slowly, and every level can be read.
 */

import {
  dropQuotes,
  finishDigest,
  mergeStructures,
  startDigest,
} from "../../compaction/digest/digest.ts";
import type { CompactionPlan } from "../../compaction/plan.ts";
import type { SummaryStructure } from "../../compaction/summary.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import type { Retention } from "../../model/session.ts";
import type { EngineContext } from "../engine-context.ts";
import { appendedEntry, toEntry } from "../entry-view.ts";
import { type Draft, draftEntry } from "../message-input.ts";
import { structureOf } from "./compaction-entry.ts";
import type { CompactionGround } from "./compaction-ground.ts";
import {
  askWithFallback,
  type SummaryTask,
  termsOf,
  type WrittenSummary,
  writeSummary,
} from "./write-summary.ts";

/** The number of summaries of one level that are merged into one of the next. */
const FAN_IN = 4;

/** A summary of the context: stored, or about to be. */
interface Node {
  readonly id: string;
  readonly level: number;
  readonly from: string;
  readonly through: string;
  readonly text: string;
  readonly structure: SummaryStructure;
}

/** The `data` of a `summary` entry. */
export interface SummaryData {
  readonly from: string;
  readonly through: string;
  readonly throughSequence: number;
  readonly level: number;
  /** The summaries that it was made from; empty if made from messages. */
  readonly children: readonly string[];
  /** The previous summary, if this one includes its content. */
  readonly previous: string | null;
  readonly tokens: number;
  readonly summarizer: string;
  /** The session's retention at that time; unless `full`, the summary quotes no covered entry. */
  readonly retention: Retention;
  readonly structure: SummaryStructure | null;
}

export async function writeHierarchy(
  engine: EngineContext,
  ground: CompactionGround,
  task: SummaryTask,
  plan: CompactionPlan,
): Promise<WrittenSummary> {
  const drafts: Draft[] = [];
  const store = (
    written: WrittenSummary,
    node: Omit<Node, "id" | "text" | "structure">,
    children: readonly string[],
  ): Node => {
    const { text, structure, summarizer, model } = written;
    const data: SummaryData = {
      ...node,
      throughSequence: plan.throughSequence,
      children,
      previous: null,
      tokens: engine.counter.countText(text),
      summarizer,
      structure,
      retention: ground.session.retention,
    };
    const draft = draftSummary(engine, text, data, model);
    drafts.push(draft);
    return { ...node, id: draft.entry.id, text, structure };
  };

  const fresh = await writeSummary(engine, { ...task, previous: null });
  const standing = await readNodes(engine, ground);
  let nodes = [...standing, store(fresh, { level: 1, from: plan.from, through: plan.through }, [])];
  for (let group = fullGroup(nodes); group !== undefined; group = fullGroup(nodes)) {
    const folded = await fold(engine, task, group);
    const [first, last] = [group[0] as Node, group.at(-1) as Node];
    const place = { level: first.level + 1, from: first.from, through: last.through };
    const parent = store(
      folded,
      place,
      group.map(({ id }) => id),
    );
    const at = nodes.indexOf(first);
    nodes = [...nodes.slice(0, at), parent, ...nodes.slice(at + group.length)];
  }
  return {
    ...fresh,
    text: nodes.length === 1 ? fresh.text : nodes.map(partText).join("\n\n"),
    structure: mergeAll(nodes, task),
    nodes: drafts,
    summaries: nodes.map(({ id }) => id),
  };
}

export function draftSummary(
  engine: EngineContext,
  text: string,
  data: SummaryData,
  model: string | null,
): Draft {
  const draft = draftEntry(
    { kind: "summary", blocks: [{ type: "text", text }], data: data as unknown as JsonValue },
    engine.newId(),
    engine.now(),
  );
  return { ...draft, entry: { ...draft.entry, model } };
}

/** The summaries of the current context; a preceding rolling one counts as one. */
async function readNodes(engine: EngineContext, { previous }: CompactionGround): Promise<Node[]> {
  if (previous === null) return [];
  if (previous.summaries.length === 0) return [toNode(previous.entry)];
  const page = await engine.store.findEntries(engine.tenant, previous.summaries, true);
  return page.entries.map((record) => toNode(toEntry(record, page.payloads)));
}

function toNode(entry: Entry): Node {
  const data: Record<string, unknown> = isPlainObject(entry.data) ? entry.data : {};
  const { level, from, through } = data;
  return {
    id: entry.id,
    level: typeof level === "number" ? level : 1,
    from: typeof from === "string" ? from : entry.id,
    through: typeof through === "string" ? through : entry.id,
    text: textOf(entry.blocks),
    // An imported one has only its text.
    structure: structureOf(data) ?? finishDigest(startDigest(null)),
  };
}

/** The oldest run of one level that is long enough to merge. */
function fullGroup(nodes: readonly Node[]): readonly Node[] | undefined {
  for (let at = 0; at + FAN_IN <= nodes.length; at++) {
    const group = nodes.slice(at, at + FAN_IN);
    if (group.every(({ level }) => level === group[0]?.level)) return group;
  }
  return undefined;
}

/** Merges several summaries: a model reads their texts, their structures are merged. */
async function fold(
  engine: EngineContext,
  task: SummaryTask,
  group: readonly Node[],
): Promise<WrittenSummary> {
  const structure = mergeAll(group, task);
  const entries = group.map(({ id, text }): Entry => {
    const draft = draftEntry(
      { kind: "message", role: "assistant", blocks: [{ type: "text", text }] },
      id,
      engine.now(),
    );
    return appendedEntry("", draft, { id, sequence: 0, parentId: null, ordinal: 1, hash: "" });
  });
  const request = { previous: null, entries, structure, splitTurn: false, ...termsOf(task) };
  const { answer, writer } = await askWithFallback(task, task.summarizer, request);
  return { text: answer.text, structure, summarizer: writer.name, model: answer.model };
}

/** Older ones may predate the retention. */
function mergeAll(nodes: readonly Node[], { quotes }: SummaryTask): SummaryStructure {
  const merged = nodes.map(({ structure }) => structure).reduce(mergeStructures);
  return quotes ? merged : dropQuotes(merged);
}

function partText({ from, through, text }: Node): string {
  return `[${from}] to [${through}]\n${text}`;
}
