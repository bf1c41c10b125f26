/**
 * Chunked (rolling) summarisation: writes a summary of entries and checks it.
 *
 * Entries are read in chunks that fit the model; each chunk's summary is input of the next one, so
 * that a range of any length is covered in bounded memory.
 */

import {
  addEntry,
  type Digest,
  dropQuotes,
  finishDigest,
  startDigest,
} from "../../compaction/digest/digest.ts";
import type {
  Summarizer,
  SummaryAnswer,
  SummaryRequest,
  SummaryStructure,
} from "../../compaction/summary.ts";
import { countBlocks } from "../../context/tokens.ts";
import { defined } from "../../model/defined.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_SUMMARY_BYTES } from "../../model/limits.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import type { Draft } from "../message-input.ts";

export interface SummaryTask {
  /** The entries to cover, in order. */
  readonly ids: readonly string[];
  readonly previous: SummaryRequest["previous"];
  readonly splitTurn: boolean;
  /** False if covered entries will be erased: then the structure has no quotes. */
  readonly quotes: boolean;
  readonly summarizer: Summarizer;
  /** Used if the first summarizer's result is unusable; without it the call fails. */
  readonly fallback: Summarizer | undefined;
  readonly instructions: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The approximate limit of the text. */
  readonly maxTokens: number | undefined;
}

export interface WrittenSummary {
  readonly text: string;
  readonly structure: SummaryStructure;
  readonly summarizer: string;
  readonly model: string | null;
  /** Hierarchical: the summaries to store beside it, and all that the text consists of. */
  readonly nodes?: readonly Draft[];
  readonly summaries?: readonly string[];
}

/** The page size of reads: entries may be large. */
const READ_ENTRIES = 64;

export async function writeSummary(
  engine: EngineContext,
  task: SummaryTask,
): Promise<WrittenSummary> {
  const digest = startDigest(task.previous?.structure ?? null);
  let previous = task.previous;
  let answer: SummaryAnswer | undefined;
  let writer = task.summarizer;
  for await (const { entries, isLast } of chunksOf(engine, task)) {
    for (const entry of entries) addEntry(digest, entry);
    // A writer that uses only the structure is called once.
    if (!isLast && writer.needsEntries !== true) continue;
    const request: SummaryRequest = {
      previous,
      entries,
      structure: structureOf(digest, task),
      splitTurn: isLast && task.splitTurn,
      ...termsOf(task),
    };
    const asked = await askWithFallback(task, writer, request);
    ({ answer, writer } = asked);
    previous = { text: answer.text, structure: request.structure };
  }
  const structure = structureOf(digest, task);
  return {
    text: answer?.text ?? "",
    structure,
    summarizer: writer.name,
    model: answer?.model ?? null,
  };
}

function structureOf(digest: Digest, { quotes }: SummaryTask): SummaryStructure {
  const structure = finishDigest(digest);
  return quotes ? structure : dropQuotes(structure);
}

/** Settings that all parts of the range share. */
export function termsOf({
  instructions,
  maxTokens,
  signal,
}: SummaryTask): Pick<SummaryRequest, "instructions" | "maxTokens" | "signal"> {
  return {
    ...defined({ instructions, maxTokens, signal }),
  };
}

/** The answer of `writer`, or of the fallback if it is rejected. */
export async function askWithFallback(
  { fallback, signal }: SummaryTask,
  writer: Summarizer,
  request: SummaryRequest,
): Promise<{ readonly answer: SummaryAnswer; readonly writer: Summarizer }> {
  try {
    return { answer: await ask(writer, request), writer };
  } catch (error) {
    if (fallback === undefined || writer === fallback || signal?.aborted === true) throw error;
    return { answer: await ask(fallback, request), writer: fallback };
  }
}

/** Throws `summary_rejected` if the answer fails the checks. */
async function ask(writer: Summarizer, request: SummaryRequest): Promise<SummaryAnswer> {
  const answer = await writer.summarize(request);
  const bytes = Buffer.byteLength(answer.text);
  const reasons = [
    ...(answer.text.trim() === "" ? ["it is empty"] : []),
    ...(bytes > MAX_SUMMARY_BYTES ? [`it has ${bytes} bytes, more than ${MAX_SUMMARY_BYTES}`] : []),
    ...(writer.check?.(answer, request) ?? []),
  ];
  if (reasons.length === 0) return { ...answer, text: answer.text.trim() };
  throw new BackscrollError(
    "summary_rejected",
    `the summary of ${writer.name} cannot be used: ${reasons.join("; ")}; nothing was changed; try again, use another model, or allow the mechanical fallback`,
    { details: { summarizer: writer.name, reasons: reasons.join("; ").slice(0, 500) } },
  );
}

/** Chunks of entries within the summarizer's input limit; the last one is marked. */
async function* chunksOf(
  engine: EngineContext,
  { ids, summarizer }: SummaryTask,
): AsyncGenerator<{ readonly entries: readonly Entry[]; readonly isLast: boolean }> {
  const room = summarizer.maxInputTokens ?? DEFAULT_INPUT_TOKENS;
  let entries: Entry[] = [];
  let tokens = 0;
  for (let at = 0; at < ids.length; at += READ_ENTRIES) {
    const page = await engine.store.findEntries(
      engine.tenant,
      ids.slice(at, at + READ_ENTRIES),
      true,
    );
    for (const record of page.entries) {
      const entry = toEntry(record, page.payloads);
      // Long results are cut before a model sees them, so they count as cut.
      const size = Math.min(countBlocks(entry.blocks, engine.counter), LONG_ENTRY_TOKENS);
      if (entries.length > 0 && tokens + size > room) {
        yield { entries, isLast: false };
        entries = [];
        tokens = 0;
      }
      entries.push(entry);
      tokens += size;
    }
  }
  yield { entries, isLast: true };
}

/** The default input limit of a model. */
const DEFAULT_INPUT_TOKENS = 100_000;
const LONG_ENTRY_TOKENS = 4_000;
