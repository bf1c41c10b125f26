/** The messages of a path: an LRU cache of pages, which are read as they come into view. */

import { signal } from "@preact/signals";
import type { RemoteEngine } from "../../client/index.ts";
import type { BlockOf, Entry } from "../data/connection.ts";
import { aroundInput, PAGE, pageInput, pathInput } from "../data/early-requests.ts";

/** Messages that are read ahead on each side of the rows. */
const MARGIN = 20;
/** The delay of reading ahead after a link was opened, in milliseconds: the target is painted first. */
const AFTER_PAINT_MS = 100;
/** How far from a message the rest of its calls and results is sought, in pages. */
const MAX_SOUGHT_PAGES = 20;
/** The capacity of the cache: 3,000 previews. */
const MAX_PAGES = 60;

export type ToolResult = BlockOf<"tool_result">;

export interface FoundResult {
  readonly block: ToolResult;
  /** Its message. */
  readonly index: number;
}

interface PageResults {
  /** The results of a page by the id of their call, with their places in the page. */
  readonly byCall: ReadonlyMap<
    string,
    readonly { readonly at: number; readonly block: ToolResult }[]
  >;
  /** The places of its calls, by their ids. */
  readonly calls: ReadonlyMap<string, number>;
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
  resultOf(callId: string, index: number): FoundResult | null | undefined {
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
      if (found !== undefined) return { block: found.block, index: page * PAGE + found.at };
      isKnown &&= isWhole;
    }
    const { offset = 0, messages } = this.#around ?? {};
    const around = messages === undefined ? undefined : this.#resultsOf(messages);
    const near = around?.byCall.get(callId)?.find(({ at }) => at >= index - offset);
    if (near !== undefined) return { block: near.block, index: offset + near.at };
    return isKnown ? null : undefined;
  }

  /** The message before `index` with the call of a result; undefined if it is not loaded. */
  callOf(callId: string, index: number): number | undefined {
    for (let page = Math.floor(index / PAGE); page >= 0; page--) {
      const messages = this.#pages.get(page);
      if (messages === undefined) continue;
      const at = this.#resultsOf(messages).calls.get(callId);
      if (at !== undefined && page * PAGE + at < index) return page * PAGE + at;
    }
    const { offset = 0, messages } = this.#around ?? {};
    const near = messages === undefined ? undefined : this.#resultsOf(messages).calls.get(callId);
    return near !== undefined && offset + near < index ? offset + near : undefined;
  }

  /** The row in which a message is shown: results are shown with their call, which may be pages before. */
  async rowOf(index: number): Promise<number> {
    const [block, ...others] = this.get(index)?.blocks ?? [];
    if (block?.type !== "tool_result" || others.length > 0) return index;
    const last = Math.floor(index / PAGE);
    for (let page = last; page >= Math.max(0, last - MAX_SOUGHT_PAGES); page--) {
      // An answer from before a change of the path is discarded: it is asked for again.
      for (let tries = 0; tries < 3 && !this.#pages.has(page); tries++) await this.load(page);
      const call = this.callOf(block.toolUseId, index);
      if (call !== undefined) return call;
    }
    return index;
  }

  /** Loads the next page after a message, or before it, that is not loaded: a call's other half is there. */
  seek(index: number, step: 1 | -1): void {
    const start = Math.floor(index / PAGE);
    for (let distance = 1; distance <= MAX_SOUGHT_PAGES; distance++) {
      const page = start + step * distance;
      if (page < 0 || page * PAGE >= this.total.peek()) return;
      if (this.#pages.has(page)) continue;
      this.load(page).catch(this.#onFailure);
      return;
    }
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
    const calls = messages.flatMap(({ blocks }, at) =>
      blocks.flatMap((block) => (block.type === "tool_use" ? [[block.id, at] as const] : [])),
    );
    const results = {
      byCall: Map.groupBy(all, ({ block }) => block.toolUseId),
      calls: new Map(calls),
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
