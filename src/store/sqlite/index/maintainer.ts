/**
 * Index maintenance, on its own thread or in slices on the caller's.
 *
 * It reads the main file, writes the segment file in small transactions, and locks the main file
 * only for the lease and the swap. Write ordering against power loss: a segment is synced before a
 * manifest names it, and a manifest that drops a segment is synced before the segment is deleted.
 */

import { LEASE_MS } from "../../../model/lease.ts";
import {
  type Answers,
  type MaintenanceReport,
  type MaintenanceTask,
  type Need,
  namedSegments,
} from "../../../search/port.ts";
import type { IndexCode } from "../../index/index-code.ts";
import { type Lease, newHolder } from "../../index/lease.ts";
import { droppedSegments } from "../../index/manifest-codec.ts";
import {
  type IndexMaintenance,
  maintenanceOptions,
  runMaintenance,
} from "../../index/run-maintenance.ts";
import type { ExecutorOptions } from "../executor/executor.ts";
import { findTenant } from "../operations/feed.ts";
import { endRead } from "../operations/index.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { checkVersion, readEpoch } from "../sqlite-schema.ts";
import { answerRead } from "./answer.ts";
import {
  checkpointLog,
  cleanSegments,
  closeSegments,
  dropSegments,
  noteIndexed,
  syncSegments,
  truncateLog,
  whenFree,
  writeSegment,
} from "./maintain-segments.ts";
import {
  indexStatus,
  readManifest,
  releaseLease,
  renewLease,
  swapManifest,
  takeLease,
} from "./manifest.ts";
import { SegmentFile } from "./segment-file.ts";
import { listStored } from "./segments.ts";
import { readSetting } from "./setting.ts";

/** The feed is read sequentially, once: a small page cache (2 MiB) suffices. */
const CACHE_KIB = 2_048;

export class Maintainer {
  readonly #options: ExecutorOptions;
  readonly #holder = newHolder();
  /** Its commits do not sync: see the write ordering above. */
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  readonly #file: SegmentFile;
  #signal = { stopped: false };
  #running: Promise<unknown> = Promise.resolve();
  /** This process has written segments. */
  #hasBuilt = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { path } = options;
    this.#writer = new SqliteConnection(path, { durability: "process", cacheKib: CACHE_KIB });
    this.#reader = new SqliteConnection(path, { cacheKib: CACHE_KIB });
    this.#file = new SegmentFile(options.path, false, () => readEpoch(this.#writer));
  }

  /** Sequential: a second call waits for the first. */
  maintain(
    code: IndexCode,
    name: string,
    task: MaintenanceTask,
    unreadable: readonly number[],
  ): Promise<MaintenanceReport> {
    const result = this.#running.then(() => this.#maintain(code, name, task, unreadable));
    this.#running = result.then(
      ({ documents }) => {
        this.#hasBuilt ||= documents > 0;
      },
      () => undefined,
    );
    return result;
  }

  /** Ends the current step at its next yield. */
  async stop(): Promise<void> {
    this.#signal.stopped = true;
    await this.#running;
    this.#signal = { stopped: false };
  }

  async close(): Promise<void> {
    await this.stop();
    await closeSegments(this.#file, this.#hasBuilt);
    this.#reader.close();
    this.#writer.close();
  }

  async #maintain(
    code: IndexCode,
    name: string,
    task: MaintenanceTask,
    reported: readonly number[],
  ): Promise<MaintenanceReport> {
    const tenant = findTenant(this.#writer, name);
    if (tenant === undefined) {
      return { busy: false, more: false, through: 0, head: 0, documents: 0 };
    }
    const maintenance = new FileMaintenance(this.#writer, this.#reader, this.#file, {
      name,
      tenant,
      holder: this.#holder,
      busyTimeoutMs: this.#options.busyTimeoutMs,
      leaseMs: this.#options.indexing.leaseMs ?? LEASE_MS,
    });
    // Another process may have changed it; with different settings, both would rebuild each other's
    // segments.
    const indexing = {
      ...this.#options.indexing,
      ...readSetting(this.#writer, this.#options.indexing),
    };
    const options = maintenanceOptions(indexing, reported, {
      named: readManifest(this.#writer, tenant),
      stored: listStored(this.#file.open(), tenant),
    });
    try {
      const { mergeShare } = this.#options.indexing;
      const computation = code.maintain(task, options);
      return await runMaintenance(maintenance, task, computation, this.#signal, mergeShare);
    } finally {
      maintenance.endSnapshot();
      if (task === "purge") await truncateLog(this.#file);
      else checkpointLog(this.#file, "PASSIVE");
    }
  }
}

interface Subject {
  readonly name: string;
  readonly tenant: number;
  readonly holder: string;
  readonly leaseMs: number;
  readonly busyTimeoutMs: number;
}

class FileMaintenance implements IndexMaintenance {
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  readonly #file: SegmentFile;
  readonly #subject: Subject;
  /**
   * Feed slices share one snapshot until they are swapped in, unless the caller asks for the
   * latest.
   */
  #feedRead = false;

  constructor(
    writer: SqliteConnection,
    reader: SqliteConnection,
    file: SegmentFile,
    subject: Subject,
  ) {
    this.#writer = writer;
    this.#reader = reader;
    this.#file = file;
    this.#subject = subject;
  }

  async takeLease(): Promise<Lease | undefined> {
    const { tenant, holder, leaseMs } = this.#subject;
    return this.#locked(() => takeLease(this.#writer, tenant, holder, leaseMs));
  }

  async renewLease(lease: Lease): Promise<boolean> {
    return this.#locked(() => renewLease(this.#writer, this.#subject.tenant, lease));
  }

  async releaseLease(lease: Lease): Promise<void> {
    await this.#locked(() => releaseLease(this.#writer, this.#subject.tenant, lease));
  }

  async answer(
    need: Exclude<Need, { need: "yield" }>,
    lease: Lease,
  ): Promise<Answers[keyof Answers]> {
    const { tenant, busyTimeoutMs } = this.#subject;
    switch (need.need) {
      case "write":
        await this.#makeFile();
        await writeSegment(this.#file, tenant, need.segment, need.blobs, busyTimeoutMs);
        return undefined;
      case "swap":
        return this.#swap(need, lease);
      case "manifest":
        this.endSnapshot();
        break;
      case "feed":
        if (need.now) this.endSnapshot();
        // A request for no rows queries the feed's end.
        if (need.limit > 0) this.#feedRead = need.now !== true;
        break;
    }
    if (!this.#reader.handle.isTransaction) this.#reader.run("BEGIN");
    return answerRead(this.#reader, this.#file, tenant, need);
  }

  async rest(): Promise<void> {
    // A snapshot prevents the log from being reused.
    if (!this.#feedRead) this.endSnapshot();
    checkpointLog(this.#file, "PASSIVE");
  }

  async clean(keptMs: number, isIdle: boolean): Promise<void> {
    if (this.#file.open() === undefined) return;
    const { tenant, busyTimeoutMs } = this.#subject;
    const named = namedSegments(readManifest(this.#writer, tenant));
    await cleanSegments(this.#file, tenant, named, { keptMs, isIdle }, busyTimeoutMs);
  }

  async position(): Promise<{ readonly through: number; readonly head: number }> {
    const { through, head } = indexStatus(this.#writer, this.#subject.name);
    return { through, head };
  }

  endSnapshot(): void {
    this.#feedRead = false;
    if (this.#reader.handle.isTransaction) endRead(this.#reader);
  }

  async #swap(
    { expected, manifest }: Extract<Need, { need: "swap" }>,
    lease: Lease,
  ): Promise<boolean> {
    this.endSnapshot();
    const { tenant, busyTimeoutMs } = this.#subject;
    const named = namedSegments(manifest);
    // A successful swap proves that no other swap came since this read.
    const known = readManifest(this.#writer, tenant);
    const before = namedSegments(known);
    const joined = droppedSegments(known, manifest);
    if (manifest.through > known.through) {
      await noteIndexed(this.#file, this.#subject, manifest.through, busyTimeoutMs);
    }
    if (named.some((segment) => !before.includes(segment))) await syncSegments(this.#file);
    const swap = () => swapManifest(this.#writer, tenant, expected, manifest, lease);
    if (!(await (joined.length > 0 ? this.#durably(swap) : this.#locked(swap)))) return false;
    if (this.#file.open() !== undefined) {
      await dropSegments(this.#file, tenant, named, joined, busyTimeoutMs);
    }
    return true;
  }

  /** Under the store's lock, so that two processes never create the file at once. */
  async #makeFile(): Promise<void> {
    if (this.#file.open() !== undefined) return;
    await this.#locked(() => this.#file.create());
  }

  /** After power loss, no manifest may name a segment deleted because of this swap. */
  async #durably<Result>(action: () => Result): Promise<Result> {
    this.#writer.survive("power-loss");
    try {
      return await this.#locked(action);
    } finally {
      this.#writer.survive("process");
    }
  }

  #locked<Result>(action: () => Result): Promise<Result> {
    return whenFree(this.#writer, this.#subject.busyTimeoutMs, () => {
      checkVersion(this.#writer, "write");
      return action();
    });
  }
}
