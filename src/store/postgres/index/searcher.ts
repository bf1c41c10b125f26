/**
 * Runs searches, each in one snapshot. Searches of different tenants interleave; those of one
 * tenant are sequential, because they share a cache of its tail.
 */

import { KeyedQueue } from "../../../async/keyed-queue.ts";
import { runLater } from "../../../search/drive.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import { type IndexCode, shareOfMemory } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import type { IndexSetting } from "../../index/stored-indexing.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { answerRead } from "./answer.ts";

export class Searcher {
  readonly #db: PostgresDatabase;
  #indexing: IndexingOptions;
  #cache: unknown;
  /** By tenant. */
  readonly #queue = new KeyedQueue();

  constructor(db: PostgresDatabase, indexing: IndexingOptions) {
    this.#db = db;
    this.#indexing = indexing;
  }

  /** Cached results belong to the setting of their time. */
  settle(setting: IndexSetting): void {
    this.#indexing = { ...this.#indexing, ...setting };
    this.#cache = undefined;
  }

  /** Another server may have other rows at the same positions. */
  forget(): void {
    this.#cache = undefined;
  }

  search(
    code: IndexCode,
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<IndexAnswer> {
    return this.#queue.run(tenant, async () => {
      signal?.throwIfAborted();
      return this.#search(code, tenant, request, signal);
    });
  }

  #search(
    code: IndexCode,
    tenant: string,
    wanted: IndexRequest,
    signal: AbortSignal | undefined,
  ): Promise<IndexAnswer> {
    const request =
      signal === undefined ? wanted : { ...wanted, isAbandoned: () => signal.aborted };
    this.#cache ??= code.createCache({ cacheBytes: shareOfMemory(), ...this.#indexing });
    return this.#db.snapshots(tenant, { again: true }, async (snapshots) => {
      let manifests = 0;
      return runLater(code.search(request, this.#cache, tenant), async (need) => {
        signal?.throwIfAborted();
        if (need.need === "yield") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need === "manifest" && ++manifests > 1) await snapshots.end();
        return answerRead(await snapshots.current(), need);
      });
    });
  }
}
