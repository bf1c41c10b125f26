/** Index maintenance on the host's event loop, awaiting each read and write. */

import { LEASE_MS } from "../../../model/lease.ts";
import {
  type Answers,
  type MaintenanceReport,
  type MaintenanceTask,
  type Need,
  namedSegments,
} from "../../../search/port.ts";
import type { IndexCode } from "../../index/index-code.ts";
import type { IndexingOptions } from "../../index/indexing-options.ts";
import { type Lease, newHolder } from "../../index/lease.ts";
import {
  type IndexMaintenance,
  maintenanceOptions,
  runMaintenance,
} from "../../index/run-maintenance.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import { readSetting } from "../postgres-schema.ts";
import { NO_TENANT, type Transaction } from "../transaction.ts";
import { answerRead } from "./answer.ts";
import {
  indexStatus,
  readManifest,
  releaseLease,
  renewLease,
  swapManifest,
  takeLease,
} from "./manifest.ts";
import { deleteOld, dropOthers, listStored, writeBlobs } from "./segments.ts";
import type { Snapshots } from "./snapshots.ts";

export class Maintainer {
  readonly #db: PostgresDatabase;
  readonly #holder = newHolder();
  readonly #indexing: IndexingOptions;
  #signal = { stopped: false };
  #running: Promise<unknown> = Promise.resolve();

  constructor(db: PostgresDatabase, indexing: IndexingOptions) {
    this.#db = db;
    this.#indexing = indexing;
  }

  /** Sequential: a second call waits for the first. */
  maintain(
    code: IndexCode,
    tenant: string,
    task: MaintenanceTask,
    reported: readonly number[],
  ): Promise<MaintenanceReport> {
    const result = this.#running.then(() =>
      this.#db.snapshots(tenant, { again: false }, async (snapshots) => {
        if (snapshots.tenant === NO_TENANT) {
          return { busy: false, more: false, through: 0, head: 0, documents: 0 };
        }
        const maintenance = new DatabaseMaintenance(this.#db, tenant, snapshots, (tx) =>
          takeLease(tx, this.#holder, this.#indexing.leaseMs ?? LEASE_MS),
        );
        const tx = await snapshots.current();
        // Another process may have changed it; with different settings, both would rebuild each
        // other's segments.
        const setting = await this.#db.plain((connection) =>
          readSetting(connection, this.#indexing),
        );
        const options = maintenanceOptions({ ...this.#indexing, ...setting }, reported, {
          named: await readManifest(tx),
          stored: await listStored(tx),
        });
        const { mergeShare } = this.#indexing;
        const computation = code.maintain(task, options);
        return runMaintenance(maintenance, task, computation, this.#signal, mergeShare);
      }),
    );
    this.#running = result.catch(() => undefined);
    return result;
  }

  /** Ends the current step at its next yield. */
  async stop(): Promise<void> {
    this.#signal.stopped = true;
    await this.#running;
    this.#signal = { stopped: false };
  }
}

class DatabaseMaintenance implements IndexMaintenance {
  readonly #db: PostgresDatabase;
  readonly #tenant: string;
  readonly #snapshots: Snapshots;
  readonly #take: (tx: Transaction) => Promise<Lease | undefined>;
  /**
   * Feed slices share one snapshot until their segments are written, unless the caller asks for the
   * latest.
   */
  #feedRead = false;

  constructor(
    db: PostgresDatabase,
    tenant: string,
    snapshots: Snapshots,
    take: (tx: Transaction) => Promise<Lease | undefined>,
  ) {
    this.#db = db;
    this.#tenant = tenant;
    this.#snapshots = snapshots;
    this.#take = take;
  }

  takeLease(): Promise<Lease | undefined> {
    return this.#db.write(this.#tenant, this.#take);
  }

  renewLease(lease: Lease): Promise<boolean> {
    return this.#db.write(this.#tenant, (tx) => renewLease(tx, lease));
  }

  releaseLease(lease: Lease): Promise<void> {
    return this.#db.write(this.#tenant, (tx) => releaseLease(tx, lease));
  }

  async answer(
    need: Exclude<Need, { need: "yield" }>,
    lease: Lease,
  ): Promise<Answers[keyof Answers]> {
    switch (need.need) {
      case "write":
        await this.#db.write(this.#tenant, async (tx) => writeBlobs(tx, need.segment, need.blobs));
        // Merging reads the segments just written, which an older snapshot lacks.
        await this.#endSnapshot();
        return undefined;
      case "swap":
        await this.#endSnapshot();
        return this.#db.write(this.#tenant, (tx) =>
          swapManifest(tx, need.expected, need.manifest, lease),
        );
      case "manifest":
        await this.#endSnapshot();
        break;
      case "feed":
        if (need.now) await this.#endSnapshot();
        this.#feedRead = need.now !== true;
        break;
    }
    return answerRead(await this.#snapshots.current(), need);
  }

  async rest(): Promise<void> {
    // A long snapshot blocks VACUUM.
    if (!this.#feedRead) await this.#snapshots.end();
  }

  async clean(keptMs: number): Promise<void> {
    await this.#db.write(this.#tenant, async (tx) => {
      dropOthers(tx, namedSegments(await readManifest(tx)));
      await deleteOld(tx, keptMs);
    });
  }

  async position(): Promise<{ readonly through: number; readonly head: number }> {
    const { through, head } = await this.#db.read(this.#tenant, indexStatus);
    return { through, head };
  }

  async #endSnapshot(): Promise<void> {
    this.#feedRead = false;
    await this.#snapshots.end();
  }
}
