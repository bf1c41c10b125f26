/**
 * Runs searches on the reading connection.
 *
 * Snapshot isolation: all reads of a search see one snapshot of the main file, and one of the segment
 * file that is not earlier. So segments that are merged and deleted meanwhile stay readable.
 */

import { runNow } from "../../../search/drive.ts";
import { type FeedSlice, type Manifest, namedSegments } from "../../../search/port.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import { emptyFeedSlice } from "../../index/feed-slice.ts";
import type { IndexCode } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import { encodeSetting } from "../../index/stored-indexing.ts";
import { MEMORY } from "../../store-options.ts";
import { findTenant } from "../operations/feed.ts";
import { inSnapshot } from "../operations/index.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { answerRead } from "./answer.ts";
import { readManifest } from "./manifest.ts";
import type { SegmentFile } from "./segment-file.ts";
import { readSetting } from "./setting.ts";

/** Cached first reads of the last search. */
interface Known {
  /** The data version that the search saw. */
  readonly version: number | undefined;
  readonly tenant: number;
  readonly manifest: Manifest;
  /** The segments of a manifest that is not usable. */
  readonly lost: readonly number[];
  /** The end of the feed. */
  head: number | undefined;
}

interface SearchOptions {
  readonly isAbandoned?: (() => boolean) | undefined;
  readonly sharing?: number;
}

export class Searcher {
  readonly #db: SqliteConnection;
  readonly #file: SegmentFile;
  readonly #indexing: IndexingOptions;
  #cache: unknown;
  /** The index setting and the share of memory that the cache was built for. */
  #setting: string | undefined;
  #known: Known | undefined;

  constructor(db: SqliteConnection, file: SegmentFile, indexing: IndexingOptions) {
    this.#db = db;
    this.#file = file;
    this.#indexing = indexing;
  }

  /** Throws soon after `isAbandoned` returns true. `sharing` searchers share the cache's memory. */
  search(
    code: IndexCode,
    tenantName: string,
    wanted: IndexRequest,
    { isAbandoned, sharing = 1 }: SearchOptions = {},
  ): IndexAnswer {
    const db = this.#db;
    const request = isAbandoned === undefined ? wanted : { ...wanted, isAbandoned };
    const search = () => {
      const tenant = findTenant(db, tenantName) ?? 0;
      this.#settle(code, sharing);
      let manifests = 0;
      return runNow(code.search(request, this.#cache, tenantName), (need) => {
        if (isAbandoned?.()) throw new Error("the search was aborted");
        if (need.need === "yield") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need === "feed" && need.after === this.#known?.head) {
          return emptyFeedSlice(need.after, need.after);
        }
        if (need.need === "manifest") {
          if (++manifests > 1) {
            this.#known = undefined;
            db.commit();
            db.run("BEGIN");
          }
          const manifest = this.#manifest(tenant);
          this.#file.beginSnapshot();
          return manifest;
        }
        const answer = answerRead(db, this.#file, tenant, need);
        if (need.need === "feed" && manifests === 1 && this.#known !== undefined) {
          this.#known.head = (answer as FeedSlice).head;
        }
        return answer;
      });
    };
    try {
      const answer = inSnapshot(db, search);
      // Reported, so that they are built again.
      const { lost = [] } = this.#known ?? {};
      return lost.length === 0 ? answer : { ...answer, unreadable: lost };
    } finally {
      this.#file.endSnapshot();
    }
  }

  /** Cached results belong to the setting of their time. */
  #settle(code: IndexCode, sharing: number): void {
    const setting = readSetting(this.#db, this.#indexing);
    const text = `${sharing} ${encodeSetting(setting)}`;
    if (this.#cache !== undefined && text === this.#setting) return;
    this.#cache = code.createCache({ ...this.#indexing, ...setting }, sharing);
    this.#setting = text;
  }

  close(): void {
    this.#file.close();
  }

  /**
   * Cached while the store is unchanged, with the feed's end. Other connections' commits change
   * `data_version`; an in-memory store has no other connection.
   */
  #manifest(tenant: number): Manifest {
    const db = this.#db;
    const known = this.#known;
    if (known?.tenant === tenant && known.version === db.seenVersion) return known.manifest;
    const manifest = answerRead(db, this.#file, tenant, { need: "manifest" }) as Manifest;
    const lost = manifest.segments.length === 0 ? lostSegments(db, tenant) : [];
    const isKept = db.path !== MEMORY && db.seenVersion !== undefined;
    this.#known = isKept
      ? { version: db.seenVersion, tenant, manifest, lost, head: undefined }
      : undefined;
    return manifest;
  }
}

/** The segments of a manifest whose file has none of them. */
function lostSegments(db: SqliteConnection, tenant: number): readonly number[] {
  const stored = readManifest(db, tenant);
  return stored.segments.length === 0 ? [] : namedSegments(stored);
}
