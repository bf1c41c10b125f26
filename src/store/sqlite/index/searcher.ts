/**
 * Searches on the connection that reads.
 *
 * All reads of a search see one moment of the main file. Segments never change, so the file that
 * holds them needs no such care.
 */

import { runNow } from "../../../search/drive.ts";
import type { IndexAnswer, IndexRequest } from "../../../search/request.ts";
import type { IndexCode } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../store.ts";
import { findTenant } from "../operations/feed.ts";
import { inSnapshot } from "../operations/index.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { answerRead } from "./answer.ts";
import type { SegmentFile } from "./segment-file.ts";

export class Searcher {
  readonly #db: SqliteConnection;
  readonly #file: SegmentFile;
  readonly #indexing: IndexingOptions;
  #memory: unknown;

  constructor(db: SqliteConnection, file: SegmentFile, indexing: IndexingOptions) {
    this.#db = db;
    this.#file = file;
    this.#indexing = indexing;
  }

  search(code: IndexCode, tenantName: string, request: IndexRequest): IndexAnswer {
    const db = this.#db;
    return inSnapshot(db, () => {
      const tenant = findTenant(db, tenantName) ?? 0;
      this.#memory ??= code.createMemory(this.#indexing);
      let manifests = 0;
      return runNow(code.search(request, this.#memory, tenantName), (need) => {
        if (need.need === "breath") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need === "manifest" && ++manifests > 1) {
          db.commit();
          db.run("BEGIN");
        }
        return answerRead(db, this.#file, tenant, need);
      });
    });
  }

  close(): void {
    this.#file.close();
  }
}
