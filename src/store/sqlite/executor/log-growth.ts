/** When to checkpoint: the growth of the write-ahead log, and the room that is left for it. */

import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { SqliteConnection } from "../sqlite-driver.ts";

/**
 * The checkpoint interval in pages: about 1,300 appends, or 16 MB. An interval of a quarter made
 * batches 5 % slower. On the appending connection, at SQLite's default of 4 MB, a checkpoint cost an
 * append 3.8 ms at the 99th percentile; on another thread it does not delay appends.
 */
const CHECKPOINT_PAGES = 8_192;

/** How often to look at the room on the disk: each megabyte. */
const LOOK_PAGES = 512;

/**
 * The part of the room on the disk that the log may take. It holds many versions of a page: on a
 * small or nearly full disk it would take the room of the data, and of its own checkpoint.
 */
const LOG_SHARE = 0.25;

const PAGE_BYTES = 2_048;

export class LogGrowth {
  readonly #db: SqliteConnection;
  readonly #freeBytes: () => number;
  #lookAt = LOOK_PAGES;

  /** `freeBytes` is the room on the store's disk. */
  constructor(db: SqliteConnection, freeBytes: () => number = () => roomFor(db.path)) {
    this.#db = db;
    this.#freeBytes = freeBytes;
  }

  /** Whether the log has grown enough for a checkpoint. True once per growth. */
  takeLarge(): boolean {
    const { pagesWritten } = this.#db;
    if (pagesWritten < this.#lookAt) return false;
    const isLarge = pagesWritten >= CHECKPOINT_PAGES || pagesWritten > this.#mostPages();
    this.#lookAt = Math.min(CHECKPOINT_PAGES, LOOK_PAGES + (isLarge ? 0 : pagesWritten));
    if (isLarge) this.#db.pagesWritten = 0;
    return isLarge;
  }

  #mostPages(): number {
    return (LOG_SHARE * this.#freeBytes()) / PAGE_BYTES;
  }
}

/** Without an answer the usual interval holds. */
function roomFor(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
