/** Searches, each in one snapshot. Between two needs of one, others get their turn. */

import { runLater } from "../../../search/drive.ts";
import type { IndexCode, SearchAnswer, SearchRequest } from "../../index/index-code.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { answerRead } from "./answer.ts";

/** Tenants whose caches are kept: the least recently searched one goes first. */
const MAX_CACHES = 64;

export class Searcher {
  readonly #db: PostgresDatabase;
  readonly #caches = new Map<string, unknown>();

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  search(code: IndexCode, tenant: string, request: SearchRequest): Promise<SearchAnswer> {
    return this.#db.snapshots(tenant, { again: true }, async (snapshots) => {
      let manifests = 0;
      return runLater(code.search(request, this.#cacheOf(code, tenant)), async (need) => {
        if (need.need === "breath") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need === "manifest" && ++manifests > 1) await snapshots.end();
        return answerRead(await snapshots.current(), need);
      });
    });
  }

  #cacheOf(code: IndexCode, tenant: string): unknown {
    const cache = this.#caches.get(tenant) ?? code.createCache();
    this.#caches.delete(tenant);
    this.#caches.set(tenant, cache);
    const [oldest] = this.#caches.keys();
    if (this.#caches.size > MAX_CACHES && oldest !== undefined) this.#caches.delete(oldest);
    return cache;
  }
}
