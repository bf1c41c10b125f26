/** The tail in memory: the feed's changes after the last segment. */

import {
  addEntry,
  addFact,
  addMemory,
  addSession,
  type IndexingOptions,
} from "./index/add-feed.ts";
import { MemoryIndex } from "./index/memory-index.ts";
import type { ErasedMessages, FeedSlice } from "./port.ts";

export class Tail {
  /** It holds the changes after this position, up to `through`. */
  readonly from: number;
  through: number;
  readonly index: MemoryIndex = new MemoryIndex();
  /** Sessions deleted meanwhile. */
  readonly deleted: Set<number> = new Set();
  /** Messages erased meanwhile, here or in a segment. */
  readonly erased: ErasedMessages[] = [];
  /** Incremented by every change other than a message. */
  revision = 0;
  readonly #options: IndexingOptions;

  constructor(from: number, options: IndexingOptions) {
    this.from = from;
    this.through = from;
    this.#options = options;
  }

  add(slice: FeedSlice): void {
    const options = this.#options;
    const { entries, sessions, memories, facts, deleted, erased } = slice;
    for (const entry of entries) addEntry(this.index, entry, options);
    for (const session of sessions) addSession(this.index, session, options);
    for (const memory of memories) addMemory(this.index, memory, options);
    for (const fact of facts) addFact(this.index, fact, options);
    for (const { session } of deleted) this.deleted.add(session);
    this.erased.push(...erased);
    this.revision += sessions.length + memories.length + facts.length;
    this.revision += deleted.length + erased.length;
    this.through = slice.through;
  }
}
