/**
 * Summaries beside the conversation, without effect on contexts.
 *
 * `compact` moves the boundary of the context, `summarize` does not. Both leave their summaries in
 * the log, so that each can be listed, opened and checked against its source.
 */

import type { SUMMARY } from "../../model/answers/context.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { isPlainObject } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { entryNotFound, sessionNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey } from "../check.ts";
import { readContextAs } from "../context/read-context.ts";
import type { EngineContext } from "../engine-context.ts";
import { appendedEntry, toEntry } from "../entry-view.ts";
import { type CompactInput, checkCompaction } from "./compact-options.ts";
import { draftSummary, type SummaryData } from "./hierarchy.ts";
import { writeSummary } from "./write-summary.ts";

export interface Summary extends FieldsOf<typeof SUMMARY> {}

export type SummarizeOptions = Pick<
  CompactInput,
  "summarizer" | "model" | "fallback" | "instructions" | "profile" | "signal"
>;

/**
 * Covers the entries that no compaction of the path covers, up to `through`, and includes the last
 * summary.
 */
export async function summarizeSession(
  engine: EngineContext,
  sessionId: string,
  through: string | undefined,
  input: SummarizeOptions,
): Promise<Summary> {
  checkInput(input, "options", INPUTS.summarize);
  const session = await engine.store.findSession(engine.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const options = checkCompaction(engine, session, input);
  const leaf = through === undefined ? session.leaf : checkKey(through, "through");
  if (leaf === null) throw nothingToSummarize(sessionId);
  const { counter } = engine;
  const context = await readContextAs(engine, sessionId, { leaf, counter }, ({ id, sequence }) => {
    return { id, sequence };
  });
  const [first] = context.entries;
  const last = context.entries.at(-1);
  if (first === undefined || last === undefined) throw nothingToSummarize(sessionId);
  const previous = context.compaction;
  const written = await writeSummary(engine, {
    ids: context.entries.map(({ id }) => id),
    previous: previous === null ? null : { text: previous.text, structure: previous.structure },
    splitTurn: false,
    quotes: session.retention === "full",
    summarizer: options.summarizer,
    fallback: options.fallback,
    instructions: options.instructions,
    signal: options.signal,
    maxTokens: undefined,
  });
  const { text, model, structure, summarizer } = written;
  const data: SummaryData = {
    from: first.id,
    through: last.id,
    throughSequence: last.sequence,
    level: 1,
    children: [],
    previous: previous?.entry.id ?? null,
    tokens: counter.countText(text),
    summarizer,
    retention: session.retention,
    structure,
  };
  const draft = draftSummary(engine, text, data, model);
  // It is attached to the last covered entry, on any path.
  const result = await engine.store.append(engine.tenant, {
    sessionId,
    entries: [{ ...draft.entry, parentId: last.id }],
    now: engine.now(),
  });
  const [place] = result.entries;
  if (place === undefined) throw entryNotFound(last.id, sessionId);
  return toSummary(appendedEntry(sessionId, draft, place), new Map(), new Set());
}

/** Summaries of all branches in order of writing: the newest 500. */
export async function listSummaries(engine: EngineContext, sessionId: string): Promise<Summary[]> {
  const marked = async (mark: "summary" | "superseded", leaf?: string) => {
    const page = await engine.store.readEntries(engine.tenant, {
      select: "marked",
      sessionId,
      mark,
      limit: MAX_PAGE,
      payloads: mark === "summary",
      ...(leaf === undefined ? {} : { leaf }),
    });
    return page.entries
      .filter(({ content }) => content !== null)
      .map((record) => toEntry(record, page.payloads));
  };
  const summaries = await marked("summary");
  const parents = parentsOf(summaries);
  const edited = (await marked("superseded")).length > 0;
  const stale = new Set<string>();
  const ends = edited ? await readEnds(engine, summaries) : new Map<string, number>();
  for (const summary of edited ? summaries : []) {
    const superseded = await marked("superseded", summary.id);
    // A summary includes its predecessor's coverage, so only the end matters.
    const end = ends.get(String(read(summary.data)["through"])) ?? summary.sequence;
    if (superseded.some(({ sequence }) => sequence <= end)) stale.add(summary.id);
  }
  return summaries.map((entry) => toSummary(entry, parents, stale));
}

/** Maps replaced summaries to their replacements. */
function parentsOf(summaries: readonly Entry[]): ReadonlyMap<string, string> {
  return new Map(
    summaries.flatMap(({ id, data }) => {
      const { children } = read(data);
      return Array.isArray(children) ? children.map((child) => [String(child), id] as const) : [];
    }),
  );
}

/** The sequence of each summary's last entry, by id: a fork has its own sequences. */
async function readEnds(
  engine: EngineContext,
  summaries: readonly Entry[],
): Promise<ReadonlyMap<string, number>> {
  const ids = summaries.map(({ data }) => read(data)["through"]);
  const named = ids.filter((id) => typeof id === "string");
  const page = await engine.store.findEntries(engine.tenant, [...new Set(named)], false);
  return new Map(page.entries.map(({ id, sequence }) => [id, sequence]));
}

function toSummary(
  entry: Entry,
  parents: ReadonlyMap<string, string>,
  stale: ReadonlySet<string>,
): Summary {
  const { from, through, firstKeptEntryId, tokens, level, previous } = read(entry.data);
  const text = textOf(entry.blocks);
  return {
    id: entry.id,
    from: String(from ?? firstKeptEntryId ?? entry.id),
    through: String(through ?? firstKeptEntryId ?? entry.id),
    text,
    model: entry.model,
    tokens: typeof tokens === "number" ? tokens : Math.floor(Buffer.byteLength(text) / 4) + 1,
    parent: parents.get(entry.id) ?? (typeof previous === "string" ? previous : null),
    kind: entry.kind === "compaction" ? "compaction" : "summary",
    level: typeof level === "number" ? level : 1,
    stale: stale.has(entry.id),
    createdAt: entry.createdAt,
  };
}

function read(data: unknown): Record<string, unknown> {
  return isPlainObject(data) ? data : {};
}

function nothingToSummarize(sessionId: string): BackscrollError {
  return new BackscrollError(
    "nothing_to_compact",
    `there is nothing to summarise in session ${sessionId}: no message follows the last compaction`,
    { details: { sessionId, reason: "empty" } },
  );
}
