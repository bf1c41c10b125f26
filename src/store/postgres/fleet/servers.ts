/**
 * Failover between the servers of an address.
 *
 * When the server in use fails, all are probed, and one is chosen that is not behind what this
 * process has seen (`choose-primary.ts`). Each transaction checks that it runs on the chosen server,
 * which detects a replacement behind a proxy.
 */

import { idlePause, pause } from "../../../async/pause.ts";
import { BackscrollError } from "../../../model/errors.ts";
import type { ConnectionFigures } from "../../store.ts";
import type { Role } from "../postgres-address.ts";
import {
  type PoolOptions,
  type PostgresConnection,
  PostgresPool,
  ServerWatch,
} from "../postgres-driver.ts";
import type { FeedMarks } from "./feed-marks.ts";
import { askServer, choosePrimary, type ServerReport, type Verdict } from "./server-report.ts";

/** The timeout of one round of probes. */
const ROUND_MS = 1_000;
/**
 * The probe interval of the server in use where there are others, and how long it may be silent: a
 * machine that loses power closes no connection.
 */
const WATCH_EVERY_MS = 1_000;
const SILENT_MS = 5_000;
/** The pause between two rounds while no server is usable. */
const BETWEEN_MS = 100;

export interface ServersOptions extends PoolOptions {
  /** One address for each host. */
  readonly hosts: readonly string[];
  /** The required role of the server. */
  readonly role: Role;
  /** How long to wait for a usable server, if there are several. */
  readonly patienceMs: number;
  readonly marks: FeedMarks;
  /**
   * Called when another server is used, or the same one after a failure. `lost` are changes that
   * this process has seen and the server lacks, by tenant.
   */
  readonly onSwitch: (lost: ReadonlyMap<string, number>) => void;
}

interface Current {
  readonly pool: PostgresPool;
  readonly host: string;
  /** Identifies one run of one server. */
  readonly server: string;
}

export class PostgresServers {
  readonly #options: ServersOptions;
  readonly #pools: readonly PostgresPool[];
  #current: Current | undefined;
  #finding: Promise<Current> | undefined;
  #timeline: number | null = null;
  #switches = 0;
  #closed = false;
  #watch: { readonly server: ServerWatch; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#pools = options.hosts.map((address) => new PostgresPool(address, options));
  }

  /** Whether another server of the address may answer in place of the one in use. */
  get hasOthers(): boolean {
    return this.#pools.length > 1;
  }

  /** Incremented whenever another server, or another run of the same one, is used. */
  /** Of the pools of all servers of the address. */
  get figures(): Omit<ConnectionFigures, "retries"> {
    const all = this.#pools.map((pool) => pool.figures);
    const sum = (name: "open" | "idle" | "waiting") =>
      all.reduce((total, each) => total + each[name], 0);
    return { open: sum("open"), idle: sum("idle"), waiting: sum("waiting") };
  }

  get switches(): number {
    return this.#switches;
  }

  /** The run of the server in use; transactions on another one are refused. */
  async server(): Promise<string> {
    return (await this.#ready()).server;
  }

  /** The address of the server in use. */
  async host(): Promise<string> {
    return (await this.#ready()).host;
  }

  /** A connection to the server in use. */
  async take(): Promise<PostgresConnection> {
    const isOnly = this.#pools.length === 1;
    for (const end = Date.now() + this.#options.patienceMs; ; ) {
      const { pool } = await this.#ready();
      try {
        return await pool.take();
      } catch (error) {
        // The queue is full: the server is sound.
        if (BackscrollError.is(error, "store_busy")) throw error;
        this.suspect();
        if (isOnly || Date.now() >= end) throw error;
      }
    }
  }

  /** The server may be gone or replaced: probe all before it is used again. */
  suspect(): void {
    this.#current = undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#endWatch();
    await this.#finding?.catch(() => undefined);
    // Only probes of unresponsive servers may be in flight.
    for (const pool of this.#pools) if (pool !== this.#current?.pool) pool.cut();
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  async #ready(): Promise<Current> {
    if (this.#current !== undefined) return this.#current;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** With several hosts, waits for a usable one; with one host, fails at once with the reason. */
  async #find(): Promise<Current> {
    const patience = this.#pools.length === 1 ? 0 : this.#options.patienceMs;
    for (const end = Date.now() + patience; ; ) {
      const { reports, failures } = await this.#ask();
      const verdict = this.#choose(reports);
      if (verdict.use !== undefined) return this.#use(verdict.use, verdict.isLossy);
      if (Date.now() >= end || this.#closed) throw this.#none(verdict.refused, failures);
      await pause(BETWEEN_MS);
    }
  }

  async #ask(): Promise<{ reports: ServerReport[]; failures: unknown[] }> {
    const reports: ServerReport[] = [];
    const failures: unknown[] = [];
    const asked = this.#pools.map(async (pool, index) => {
      try {
        reports.push(await askPool(pool, index, this.#options.marks));
      } catch (error) {
        failures.push(error);
      }
    });
    const all = Promise.all(asked);
    await (this.#pools.length === 1 ? all : Promise.race([all, idlePause(ROUND_MS)]));
    return { reports: [...reports], failures: [...failures] };
  }

  #choose(reports: readonly ServerReport[]): Verdict {
    const { role } = this.#options;
    const [only] = reports;
    // A single standby is accepted; writes fail with store_read_only.
    const isReadable = this.#pools.length === 1 && only?.isWritable === false;
    if (role === "primary" && !isReadable) return choosePrimary(reports, this.#timeline);
    const inOrder = reports.toSorted((a, b) => a.index - b.index);
    const standby = inOrder.find(({ isWritable }) => !isWritable);
    const use =
      role === "standby"
        ? standby
        : role === "prefer-standby"
          ? (standby ?? inOrder[0])
          : inOrder[0];
    return use === undefined ? { use, refused: [] } : { use, isLossy: false };
  }

  #use({ index, timeline, server, behind }: ServerReport, isLossy: boolean): Current {
    const pool = this.#pools[index] as PostgresPool;
    this.#timeline = timeline ?? this.#timeline;
    const host = this.#options.hosts[index] as string;
    this.#current = { pool, host, server };
    if (this.#pools.length > 1 && !this.#closed) this.#beginWatch(this.#current);
    this.#switches++;
    this.#options.onSwitch(isLossy ? behind : new Map());
    return this.#current;
  }

  #beginWatch(current: Current): void {
    this.#endWatch();
    const server = new ServerWatch(current.host);
    let isAsking = false;
    const timer = setInterval(async () => {
      if (isAsking) return;
      isAsking = true;
      const silence = idlePause(SILENT_MS).then(() => "silent" as const);
      const answer = await Promise.race([server.ask(), silence]).catch(() => "gone" as const);
      isAsking = false;
      if (answer === undefined || this.#watch?.timer !== timer) return;
      this.#endWatch();
      if (this.#current === current) this.suspect();
      if (answer === "silent") current.pool.cut();
    }, WATCH_EVERY_MS);
    timer.unref();
    this.#watch = { server, timer };
  }

  #endWatch(): void {
    clearInterval(this.#watch?.timer);
    this.#watch?.server.end();
    this.#watch = undefined;
  }

  #none(refused: readonly ServerReport[], failures: readonly unknown[]): unknown {
    const [old] = refused;
    if (old !== undefined) return behindError(old, this.#timeline);
    const [failure] = failures;
    if (this.#pools.length === 1 && failure !== undefined) return failure;
    const wanted = this.#options.role === "primary" ? "takes writes" : "answers";
    return new BackscrollError(
      "store_unavailable",
      `none of the ${this.#pools.length} servers of the address ${wanted}; promote a standby, or start one`,
      { details: { servers: this.#pools.length, retryAfterMs: 1_000 }, cause: failure },
    );
  }
}

/** Retries on another connection: an idle one may be dead although the server is alive. */
async function askPool(pool: PostgresPool, index: number, marks: FeedMarks): Promise<ServerReport> {
  for (let attempt = 1; ; attempt++) {
    const connection = await pool.take();
    try {
      const report = await askServer(connection, index, marks);
      connection.giveBack();
      return report;
    } catch (error) {
      connection.giveBack(true);
      // A silent server has had its time.
      if (attempt === 3 || BackscrollError.is(error)) throw error;
    }
  }
}

function behindError({ timeline }: ServerReport, seen: number | null): BackscrollError {
  const why =
    timeline !== null && seen !== null && timeline < seen
      ? `it is on timeline ${timeline}, and this process has used timeline ${seen}`
      : "its change feed ends before what this process has seen";
  return new BackscrollError(
    "store_unavailable",
    `the server is an old primary or another copy: ${why}; make it a standby of the new primary, or restart this process to use it anyway`,
    { details: { timeline: timeline ?? 0, seenTimeline: seen ?? 0, retryAfterMs: 1_000 } },
  );
}
