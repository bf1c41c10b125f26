/**
 * Figures of an ingested session for lists, counted as its entries pass: exchanges, tools, times,
 * and the requests that a title derives from.
 */

import type { Described, Description } from "../engine/import/import-subject.ts";
import { type Batched, mapBatches } from "../ingest/batches.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import { type Block, textOf } from "../model/block.ts";
import type { JsonObject } from "../model/json.ts";
import type { IngestFigures } from "../model/session.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { lineMarkOf } from "../transcript/copy-mark.ts";
import { TitleMaker, titlePatch } from "../transcript/title/title-maker.ts";

/** The metadata key that is true for such a session. */
const MACHINE_MADE_KEY = "machineMade";

/** A session names few tools; beyond this they are not counted. */
const MAX_TOOLS = 200;
const MAX_TOOL_NAME = 128;

/** Counts that can be added up. */
class Counts {
  exchanges = 0;
  readonly tools = new Map<string, number>();
  cost: number | undefined;

  add(entry: ImportedEntry): void {
    // A copy is counted with its original.
    if (lineMarkOf(entry) !== undefined) return;
    if (entry.cost !== undefined) this.cost = (this.cost ?? 0) + entry.cost;
    for (const block of entry.blocks) if (block.type === "tool_use") this.#countTool(block.name);
    if (isRequest(entry)) this.exchanges++;
  }

  /** The difference from `known`. */
  without(known: Counts): Counts {
    const rest = new Counts();
    rest.exchanges = Math.max(0, this.exchanges - known.exchanges);
    if (this.cost !== undefined) rest.cost = Math.max(0, this.cost - (known.cost ?? 0));
    for (const [name, count] of this.tools) {
      const more = count - (known.tools.get(name) ?? 0);
      if (more > 0) rest.tools.set(name, more);
    }
    return rest;
  }

  #countTool(name: string): void {
    const clean = name.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, MAX_TOOL_NAME);
    const count = this.tools.get(clean);
    if (count !== undefined || this.tools.size < MAX_TOOLS) this.tools.set(clean, (count ?? 0) + 1);
  }
}

export class SessionFigures {
  readonly #all = new Counts();
  /** Counts of known entries; undefined until reported. */
  #known: Counts | undefined;
  #first: number | null = null;
  #last: number | null = null;
  readonly #titles = new TitleMaker();
  /** Whether programs, and users, wrote requests. */
  #hasMachine = false;
  #hasPerson = false;

  /** Passes the entries on, counting them. */
  watch(entries: AsyncIterable<ImportedEntry>): Batched<ImportedEntry> {
    const count = (entry: ImportedEntry) => {
      if (entry.kind === "message") this.#add(entry);
    };
    return mapBatches(entries, function* (batch) {
      for (const entry of batch) {
        count(entry);
        yield entry;
      }
    });
  }

  /** Reports a known entry. */
  noteKnown(entry: ImportedEntry): void {
    this.#known ??= new Counts();
    if (entry.kind === "message") this.#known.add(entry);
  }

  /**
   * The patch of `session`. `isAdded`: the counts are added, because they come from a file's tail
   * or from another file of the session. Otherwise the file was read as a whole, and its counts
   * replace the session's.
   */
  describe(
    session: Described,
    title: string | null,
    file: { readonly mtime: number; readonly isAdded: boolean },
  ): Description {
    const titled = titlePatch(session, title, this.#titles.made());
    const metadata = { ...titled.metadata, ...this.#markPatch(session, file.isAdded) };
    return {
      figures: this.#figures(session.figures, file),
      ...titled,
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    };
  }

  /** The counts so far of a file read as a whole. */
  counted(): IngestFigures {
    return { ...this.#figures(undefined, { mtime: 0, isAdded: false }), fileMtime: null };
  }

  /** A session is machine-made if only programs wrote its requests. */
  #markPatch({ metadata, figures }: Described, isAdded: boolean): JsonObject {
    const isMarked = metadata[MACHINE_MADE_KEY] === true;
    if (isMarked && this.#hasPerson) return { [MACHINE_MADE_KEY]: null };
    // Decided only if all earlier requests were read now.
    const isWhole = (figures?.exchangeCount ?? 0) <= (isAdded ? 0 : this.#all.exchanges);
    const isMade = this.#hasMachine && !this.#hasPerson && isWhole && !isMarked;
    return isMade ? { [MACHINE_MADE_KEY]: true } : {};
  }

  #figures(
    earlier: IngestFigures | undefined,
    { mtime, isAdded }: { readonly mtime: number; readonly isAdded: boolean },
  ): IngestFigures {
    // With the known entries reported, the rest is added, whatever file it is in.
    const isTold = this.#known !== undefined && earlier !== undefined;
    const join = isAdded || isTold ? (a: number, b: number) => a + b : Math.max;
    const own = isTold ? this.#all.without(this.#known ?? new Counts()) : this.#all;
    const costs = [own.cost, earlier?.costUsd].filter((cost) => cost !== undefined);
    const cost = costs.length === 0 ? undefined : costs.reduce((a, b) => join(a, b));
    const counts = new Map(own.tools);
    for (const [name, count] of Object.entries(earlier?.toolCounts ?? {})) {
      counts.set(name, join(counts.get(name) ?? 0, count));
    }
    return {
      exchangeCount: join(own.exchanges, earlier?.exchangeCount ?? 0),
      toolCounts: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
      fileMtime: mtime,
      firstMessageAt: pick(Math.min, this.#first, earlier?.firstMessageAt),
      lastMessageAt: pick(Math.max, this.#last, earlier?.lastMessageAt),
      ...(cost === undefined ? {} : { costUsd: cost }),
    };
  }

  #add(entry: ImportedEntry): void {
    const { createdAt } = entry;
    this.#first = pick(Math.min, this.#first, createdAt);
    this.#last = pick(Math.max, this.#last, createdAt);
    this.#all.add(entry);
    if (isInjected(entry.metadata)) return;
    if (entry.role === "assistant" && !this.#titles.isDone) {
      this.#titles.addAnswer(textOf(entry.blocks));
    }
    if (entry.role !== "user") return;
    const request = requestOf(entry.blocks);
    if (request === undefined) return;
    if (isMachineRequest(request)) this.#hasMachine = true;
    else this.#hasPerson = true;
    this.#titles.addRequest(request);
  }
}

function isRequest({ role, metadata, blocks }: ImportedEntry): boolean {
  return role === "user" && !isInjected(metadata) && requestOf(blocks) !== undefined;
}

/** The user's request; empty for an image alone; undefined if none. */
function requestOf(blocks: readonly Block[]): string | undefined {
  const text = withoutInjected(textOf(blocks)).trim();
  if (text !== "") return text;
  return blocks.some(({ type }) => type === "image") ? "" : undefined;
}

function pick(
  choose: (a: number, b: number) => number,
  a: number | null,
  b: number | null | undefined,
): number | null {
  if (a === null || b === null || b === undefined) return a ?? b ?? null;
  return choose(a, b);
}

// Machine-made sessions: a program warmed up a cache, or requested a summary or title. They are
// kept and marked, so that lists and searches can leave them out.
//
// Recognised by the program's requests, as seen in transcripts of Claude Code, its sub-agents and
// its companions (anthropics/claude-code issues 41165 and 35800, winfunc/opcode pull request 421).

const REQUESTS: readonly RegExp[] = [
  /^warmup$/i,
  /^Context: This summary will be shown in a list to help users and Claude choose/,
  /^Analyze this conversation and determine: Does the assistant have more autonomous work/,
  /^Please write (?:a|the) \d+-\d+ word title (?:for )?the following conversation/i,
  /^Summarize this coding conversation in under \d+ characters/,
  /^Your task is to create a detailed summary of (?:the|this) conversation so far/,
  /^Analy[sz]e this development session transcript and generate a structured summary/,
];

/** Whether the request is a program's. */
function isMachineRequest(text: string): boolean {
  const begin = text.slice(0, 400).trim();
  return REQUESTS.some((request) => request.test(begin));
}
