/**
 * Searches on the connection that reads.
 *
 * All reads of a search see one moment of the main file, and one of the file of segments, which is
 * not earlier. So segments that are joined and deleted while it runs are there to its end.
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
    const search = () => {
      const tenant = findTenant(db, tenantName) ?? 0;
      this.#memory ??= code.createMemory(this.#indexing);
      let manifests = 0;
      return runNow(code.search(request, this.#memory, tenantName), (need) => {
        if (need.need === "breath") return undefined;
        if (need.need === "write" || need.need === "swap") {
          throw new Error("a search must not write");
        }
        if (need.need !== "manifest") return answerRead(db, this.#file, tenant, need);
        if (++manifests > 1) {
          db.commit();
          db.run("BEGIN");
        }
        const manifest = answerRead(db, this.#file, tenant, need);
        this.#file.beginSnapshot();
        return manifest;
      });
    };
    try {
      return inSnapshot(db, search);
    } finally {
      this.#file.endSnapshot();
    }
  }

  close(): void {
    this.#file.close();
  }
}
