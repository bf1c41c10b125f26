/** The messages of a path: an LRU cache of pages, which are read as they come into view. */

import { signal } from "@preact/signals";
import type { RemoteEngine } from "../../client/index.ts";
import type { BlockOf, Entry } from "../data/connection.ts";
import { aroundInput, PAGE, pageInput, pathInput } from "../data/early-requests.ts";

/** Messages that are read ahead on each side of the rows. */
const MARGIN = 20;
/** The delay of reading ahead after a link was opened, in milliseconds: the target is painted first. */
const AFTER_PAINT_MS = 100;
/** The capacity of the cache: 3,000 previews. */
const MAX_PAGES = 60;

export type ToolResult = BlockOf<"tool_result">;

interface PageResults {
  /** The results of a page by the id of their call, with their places in the page. */
  readonly byCall: ReadonlyMap<
    string,
    readonly { readonly at: number; readonly block: ToolResult }[]
  >;
  /** False if a message came without its blocks, which may have results. */
  readonly isWhole: boolean;
}

export class MessagePages {
  /** Messages on the path. */
  readonly total = signal(0);
  /** Incremented with each page: a dependency of the views. */
  readonly version = signal(0);
  readonly #engine: RemoteEngine;
  readonly #sessionId: string;
  readonly #leaf: string | undefined;
  readonly #onFailure: (error: unknown) => void;
  readonly #pages = new Map<number, readonly Entry[]>();
  readonly #results = new WeakMap<readonly Entry[], PageResults>();
  readonly #coming = new Map<number, Promise<void>>();
  /** The messages around a link's target, shown until their pages arrive. */
  #around: { readonly offset: number; readonly messages: readonly Entry[] } | undefined;
  #readAhead: ReturnType<typeof setTimeout> | undefined;
  /** Discards answers to requests from before a change of path. */
  #epoch = 0;

  constructor(
    engine: RemoteEngine,
    sessionId: string,
    leaf: string | undefined,
    onFailure: (error: unknown) => void,
  ) {
    this.#engine = engine;
    this.#sessionId = sessionId;
    this.#leaf = leaf;
    this.#onFailure = onFailure;
  }

  /** Undefined until its page has arrived. */
  get(index: number): Entry | undefined {
    const page = Math.floor(index / PAGE);
    const messages = this.#pages.get(page);
    if (messages === undefined) return this.#around?.messages[index - this.#around.offset];
    // The most recently used page is the last of the map.
    this.#pages.delete(page);
    this.#pages.set(page, messages);
    return messages[index - page * PAGE];
  }

  /**
   * The result of a call in the message `index`: null if no message of the path has it, undefined
   * while that is not known, because pages after the message were not read.
   */
  resultOf(callId: string, index: number): ToolResult | null | undefined {
    let isKnown = true;
    const first = Math.floor(index / PAGE);
    for (let page = first; page * PAGE < this.total.peek(); page++) {
      const messages = this.#pages.get(page);
      if (messages === undefined) {
        isKnown = false;
        continue;
      }
      const { byCall, isWhole } = this.#resultsOf(messages);
      const found = byCall.get(callId)?.find(({ at }) => page * PAGE + at >= index);
      if (found !== undefined) return found.block;
      isKnown &&= isWhole;
    }
    const around = this.#around === undefined ? undefined : this.#resultsOf(this.#around.messages);
    const from = index - (this.#around?.offset ?? 0);
    const near = around?.byCall.get(callId)?.find(({ at }) => at >= from);
    return near?.block ?? (isKnown ? null : undefined);
  }

  /** Requests the pages of a range and its margins that are missing. */
  want(first: number, last: number): void {
    if (this.#isAround(first) && this.#isAround(last - 1)) {
      this.#readAhead ??= setTimeout(() => {
        this.#readAhead = undefined;
        this.#load(first - MARGIN, last + MARGIN);
      }, AFTER_PAINT_MS);
    } else {
      this.#load(first - MARGIN, last + MARGIN);
    }
  }

  /**
   * The index of a message on this path, or of the message that another entry follows. `elsewhere`: it is on
   * another branch.
   */
  async find(entryId: string): Promise<number | "elsewhere"> {
    for (const [page, messages] of this.#pages) {
      const at = messages.findIndex(({ id }) => id === entryId);
      if (at !== -1) return page * PAGE + at;
    }
    const { messages, offset, total } = await this.#readAround(entryId);
    const at = messages.findIndex(({ id }) => id === entryId);
    // For an entry of another branch the server answers with the path that ends with the entry.
    if (at !== -1 && offset + at < total - 1) {
      // Shown until the pages arrive.
      this.#around = { offset, messages };
      this.total.value = total;
      return offset + at;
    }
    const near = at === -1 ? (await this.#readAround(entryId, 1)).offset : offset + at;
    const index = Math.max(0, Math.min(near, total - 1));
    await this.load(Math.floor(index / PAGE));
    return at !== -1 && this.get(index)?.id !== entryId ? "elsewhere" : index;
  }

  /** Reads one message without caching its page. */
  async peek(index: number): Promise<Entry | undefined> {
    const known = this.get(index);
    if (known !== undefined) return known;
    const { messages } = await this.#engine.listMessages(this.#sessionId, {
      offset: index,
      limit: 1,
      preview: true,
      ...pathInput(this.#leaf),
    });
    return messages[0];
  }

  async load(page: number): Promise<void> {
    const coming = this.#coming.get(page);
    if (coming !== undefined) return coming;
    const loading = this.#read(page).finally(() => this.#coming.delete(page));
    this.#coming.set(page, loading);
    return loading;
  }

  /** Reads the messages after the last known one. */
  async grow(): Promise<void> {
    const page = Math.max(0, Math.floor((this.total.peek() - 1) / PAGE));
    // A pending request may predate the new entries.
    await this.#coming.get(page)?.catch(() => undefined);
    await this.load(page);
    const last = Math.floor((this.total.peek() - 1) / PAGE);
    if (last > page) await this.load(last);
  }

  /** Reloads the most recently used pages after a change of the path or of its content, and drops the others. */
  async reset(): Promise<void> {
    this.#epoch++;
    // The answers to pending requests are discarded: these pages are requested again.
    const kept = [...[...this.#pages.keys()].slice(-3), ...this.#coming.keys()];
    this.#coming.clear();
    if (kept.length === 0) kept.push(Math.floor((this.#around?.offset ?? 0) / PAGE));
    await Promise.all(kept.map((page) => this.load(page)));
    this.#around = undefined;
    for (const page of [...this.#pages.keys()]) {
      if (!kept.includes(page)) this.#pages.delete(page);
    }
    this.version.value++;
  }

  #load(first: number, last: number): void {
    const end = Math.min(last, this.total.peek());
    for (let page = Math.floor(Math.max(0, first) / PAGE); page * PAGE < end; page++) {
      if (!this.#pages.has(page)) this.load(page).catch(this.#onFailure);
    }
  }

  #resultsOf(messages: readonly Entry[]): PageResults {
    const known = this.#results.get(messages);
    if (known !== undefined) return known;
    const all = messages.flatMap(({ blocks }, at) =>
      blocks.flatMap((block) => (block.type === "tool_result" ? { at, block } : [])),
    );
    const results = {
      byCall: Map.groupBy(all, ({ block }) => block.toolUseId),
      isWhole: messages.every(
        ({ blocks, truncated, erased }) => blocks.length > 0 || !(truncated || erased),
      ),
    };
    this.#results.set(messages, results);
    return results;
  }

  #isAround(index: number): boolean {
    return this.#around?.messages[index - this.#around.offset] !== undefined;
  }

  async #read(page: number): Promise<void> {
    const epoch = this.#epoch;
    const input = pageInput(page, pathInput(this.#leaf));
    const { messages, total } = await this.#engine.listMessages(this.#sessionId, input);
    if (epoch !== this.#epoch) return;
    this.#pages.delete(page);
    this.#pages.set(page, messages);
    for (const old of [...this.#pages.keys()].slice(0, -MAX_PAGES)) this.#pages.delete(old);
    this.total.value = total;
    this.version.value++;
  }

  #readAround(entryId: string, limit?: number) {
    const input = aroundInput(entryId, pathInput(this.#leaf), limit);
    return this.#engine.listMessages(this.#sessionId, input);
  }
}

/** The first message at or after a time, by binary search: a session is ordered by time. */
export async function firstSince(
  time: number,
  total: number,
  timeOf: (index: number) => Promise<number | undefined>,
): Promise<number> {
  let low = 0;
  let high = total - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = await timeOf(middle);
    if (at !== undefined && at < time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low);
}
