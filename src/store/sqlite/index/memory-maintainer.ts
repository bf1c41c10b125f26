/**
 * Index maintenance of an in-memory store.
 *
 * It has a single connection, so a step runs synchronously. Such stores are small.
 */

import { runNow } from "../../../search/drive.ts";
import {
  type MaintenanceReport,
  type MaintenanceTask,
  namedSegments,
} from "../../../search/port.ts";
import type { IndexCode } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import { DROPPED_KEPT_MS } from "../../index/lease.ts";
import { maintenanceOptions } from "../../index/run-maintenance.ts";
import { findTenant } from "../operations/feed.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { answerRead } from "./answer.ts";
import { runWrite } from "./maintain-segments.ts";
import { readManifest, releaseLease, swapManifest, takeLease } from "./manifest.ts";
import type { SegmentFile } from "./segment-file.ts";
import { deletePart, dropOthers, listOld, listStored, writeBlobs } from "./segments.ts";
import { readSetting } from "./setting.ts";

export class InMemoryMaintainer {
  readonly #db: SqliteConnection;
  readonly #file: SegmentFile;

  readonly #indexing: IndexingOptions;

  constructor(db: SqliteConnection, file: SegmentFile, indexing: IndexingOptions) {
    this.#db = db;
    this.#file = file;
    this.#indexing = indexing;
  }

  async maintain(
    code: IndexCode,
    name: string,
    task: MaintenanceTask,
    reported: readonly number[],
  ): Promise<MaintenanceReport> {
    const db = this.#db;
    const tenant = findTenant(db, name);
    const lease =
      tenant === undefined ? undefined : runWrite(db, () => takeLease(db, tenant, "memory", 0));
    if (tenant === undefined || lease === undefined) {
      return { busy: false, more: false, through: 0, head: 0, documents: 0 };
    }
    const segments = this.#file.create();
    const indexing = { ...this.#indexing, ...readSetting(db, this.#indexing) };
    const options = maintenanceOptions(indexing, reported, {
      named: readManifest(db, tenant),
      stored: listStored(segments, tenant),
    });
    try {
      return runNow(code.maintain(task, options), (need) => {
        switch (need.need) {
          case "yield":
            return undefined;
          case "write":
            runWrite(segments, () => writeBlobs(segments, tenant, need.segment, need.blobs));
            return undefined;
          case "swap":
            return runWrite(db, () => {
              return swapManifest(db, tenant, need.expected, need.manifest, lease);
            });
          default:
            return answerRead(db, this.#file, tenant, need);
        }
      });
    } finally {
      runWrite(db, () => releaseLease(db, tenant, lease));
      this.#clean(segments, tenant, task === "purge" ? 0 : DROPPED_KEPT_MS);
    }
  }

  async stop(): Promise<void> {}

  async close(): Promise<void> {
    this.#file.close();
  }

  #clean(segments: SqliteConnection, tenant: number, keptMs: number): void {
    const named = namedSegments(readManifest(this.#db, tenant));
    runWrite(segments, () => {
      dropOthers(segments, tenant, named);
      for (const segment of listOld(segments, tenant, keptMs)) {
        while (deletePart(segments, tenant, segment));
      }
    });
  }
}
