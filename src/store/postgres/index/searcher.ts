/**
 * Searches, each in one snapshot. Between two needs of one, others get their turn; but those of one
 * tenant come one after the other, because they share what they remember of its tail.
 */

import { runLater } from "../../../search/drive.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import type { IndexCode } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import type { IndexSetting } from "../../index/stored-indexing.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { answerRead } from "./answer.ts";

export class Searcher {
  readonly #db: PostgresDatabase;
  #indexing: IndexingOptions;
  #memory: unknown;
  /** The last search of each tenant that is under way. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(db: PostgresDatabase, indexing: IndexingOptions) {
    this.#db = db;
    this.#indexing = indexing;
  }

  /** What is remembered was made by the setting that held then. */
  settle(setting: IndexSetting): void {
    this.#indexing = { ...this.#indexing, ...setting };
    this.#memory = undefined;
  }

  async search(
    code: IndexCode,
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<IndexAnswer> {
    const before = this.#last.get(tenant);
    const answer = (async () => {
      await before;
      signal?.throwIfAborted();
      return this.#search(code, tenant, request, signal);
    })();
    const over = answer.catch(() => undefined);
    this.#last.set(tenant, over);
    try {
      return await answer;
    } finally {
      if (this.#last.get(tenant) === over) this.#last.delete(tenant);
    }
  }

  #search(
    code: IndexCode,
    tenant: string,
    wanted: IndexRequest,
    signal: AbortSignal | undefined,
  ): Promise<IndexAnswer> {
    const request =
      signal === undefined ? wanted : { ...wanted, isAbandoned: () => signal.aborted };
    this.#memory ??= code.createMemory(this.#indexing);
    return this.#db.snapshots(tenant, { again: true }, async (snapshots) => {
      let manifests = 0;
      return runLater(code.search(request, this.#memory, tenant), async (need) => {
        signal?.throwIfAborted();
        if (need.need === "breath") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need === "manifest" && ++manifests > 1) await snapshots.end();
        return answerRead(await snapshots.current(), need);
      });
    });
  }
}
