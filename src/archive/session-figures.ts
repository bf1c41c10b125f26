/**
 * What lists show of an ingested session, counted while its entries pass by: exchanges, tools, times,
 * and the requests that a title is made of where the source has none.
 */

import type { Described, Description } from "../engine/import/import-session.ts";
import { type Batched, mapBatches } from "../ingest/batches.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import { type Block, textOf } from "../model/block.ts";
import type { IngestFigures } from "../model/session.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { TitleMaker } from "../transcript/title/title-maker.ts";
import { titlePatch } from "../transcript/title/title-patch.ts";

/** A session names few tools; what claims to name more is not counted on. */
const MAX_TOOLS = 200;
const MAX_TOOL_NAME = 128;

export class SessionFigures {
  #exchanges = 0;
  readonly #tools = new Map<string, number>();
  #first: number | null = null;
  #last: number | null = null;
  readonly #titles = new TitleMaker();
  #cost: number | undefined;

  /** Passes the entries on, and counts them. */
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

  /**
   * What is to change of `session`. `earlier` are the figures to go on from, if only the rest of the
   * file was read; a file that was read whole has no fewer than an archive had of it before.
   */
  describe(
    session: Described,
    title: string | null,
    file: { readonly mtime: number; readonly isRest: boolean },
  ): Description {
    return {
      figures: this.#figures(session.figures, file),
      ...titlePatch(session, title, this.#titles.made()),
    };
  }

  /** What was counted so far, of a file that was read whole. */
  counted(): IngestFigures {
    return { ...this.#figures(undefined, { mtime: 0, isRest: false }), fileMtime: null };
  }

  #figures(
    earlier: IngestFigures | undefined,
    { mtime, isRest }: { readonly mtime: number; readonly isRest: boolean },
  ): IngestFigures {
    const join = isRest ? (a: number, b: number) => a + b : Math.max;
    const costs = [this.#cost, earlier?.costUsd].filter((cost) => cost !== undefined);
    const cost = costs.length === 0 ? undefined : costs.reduce((a, b) => join(a, b));
    const counts = new Map(this.#tools);
    for (const [name, count] of Object.entries(earlier?.toolCounts ?? {})) {
      counts.set(name, join(counts.get(name) ?? 0, count));
    }
    return {
      exchangeCount: join(this.#exchanges, earlier?.exchangeCount ?? 0),
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
    if (entry.cost !== undefined) this.#cost = (this.#cost ?? 0) + entry.cost;
    for (const block of entry.blocks) if (block.type === "tool_use") this.#countTool(block.name);
    if (isInjected(entry.metadata)) return;
    if (entry.role === "assistant" && !this.#titles.isDone) {
      this.#titles.addAnswer(textOf(entry.blocks));
    }
    if (entry.role !== "user") return;
    const request = requestOf(entry.blocks);
    if (request === undefined) return;
    this.#exchanges++;
    this.#titles.addRequest(request);
  }

  #countTool(name: string): void {
    const clean = name.toWellFormed().replaceAll("\0", "\uFFFD").slice(0, MAX_TOOL_NAME);
    const count = this.#tools.get(clean);
    if (count !== undefined || this.#tools.size < MAX_TOOLS)
      this.#tools.set(clean, (count ?? 0) + 1);
  }
}

/** What the user asked; empty for an image alone; undefined if nobody asked anything. */
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
