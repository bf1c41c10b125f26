/**
 * A primary and its hot standbys, as real servers on this machine, for tests that kill and promote
 * them. `postgres-fleet-process.ts` runs it in a separate process.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import pg from "pg";
import { freePort } from "../server/ports.ts";
import { initialize, makeHome, PASSWORD, type PostgresHome, stop } from "./embedded-postgres.ts";

/** The space of two data folders. */
export const FLEET_ROOM_BYTES: number = 512 * 1024 ** 2;

const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  autovacuum: "off",
  jit: "off",
  scram_iterations: "1",
  io_method: "sync",
  wal_level: "replica",
  wal_keep_size: "64MB",
  max_wal_size: "256MB",
  max_connections: "100",
  hot_standby_feedback: "on",
  // The retry interval of a standby without its primary.
  wal_retrieve_retry_interval: "100ms",
};

/** The owner of the test's database: not a superuser, as in production. */
const OWNER = "backscroll_owner";

export interface FleetOptions {
  /** The folder of the data. Default: a tmpfs with enough space. */
  readonly parent?: string;
  /** Synchronous replication. */
  readonly synchronous?: boolean;
  /** Further settings of every server. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Temporary files may vanish while a running server's data is copied. */
function isCopied(file: string): boolean {
  return !/^(postmaster\.(pid|opts)|pg_wal|pgsql_tmp.*|.*\.tmp|pg_internal\.init.*)$/.test(
    basename(file),
  );
}

/** Server 0 begins as the primary, server 1 as its standby. */
export class PostgresFleet {
  readonly #home: PostgresHome;
  readonly #options: FleetOptions;
  readonly #ports: readonly [number, number];
  readonly #running = new Map<number, ChildProcess>();

  private constructor(home: PostgresHome, options: FleetOptions, ports: [number, number]) {
    this.#home = home;
    this.#options = options;
    this.#ports = ports;
  }

  static async start(parent: string, options: FleetOptions): Promise<PostgresFleet> {
    const home = await makeHome(parent);
    const fleet = new PostgresFleet(home, options, [await freePort(), await freePort()]);
    try {
      await initialize(home, fleet.#data(0));
      await fleet.start(0);
      await fleet.query(0, `CREATE ROLE ${OWNER} LOGIN PASSWORD '${OWNER}'`);
      await fleet.query(0, `CREATE DATABASE fleet OWNER ${OWNER}`);
      await fleet.follow(1, 0);
      if (options.synchronous) await fleet.synchronize(0);
    } catch (error) {
      await fleet.end();
      throw error;
    }
    return fleet;
  }

  /** The ports of both servers: each keeps its own. */
  get ports(): readonly [number, number] {
    return this.#ports;
  }

  async start(server: number): Promise<void> {
    const settings = { ...SETTINGS, ...this.#options.settings };
    const launch = () => this.#home.launch(this.#data(server), this.#port(server), settings);
    // Children of a killed server may hold its shared memory for a while.
    for (let attempt = 1; ; attempt++) {
      try {
        this.#running.set(server, await launch());
        return;
      } catch (error) {
        if (attempt === 50 || !String(error).includes("shared memory")) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** A clean shutdown. */
  async stop(server: number): Promise<void> {
    const child = this.#running.get(server);
    this.#running.delete(server);
    if (child !== undefined) await stop(child);
  }

  /** SIGKILL of the postmaster; its children exit when they notice. */
  async kill(server: number): Promise<void> {
    const child = this.#running.get(server);
    this.#running.delete(server);
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Promotes a standby, which begins a new timeline. */
  async promote(server: number): Promise<void> {
    await this.query(server, "SELECT pg_promote(true, 60)");
  }

  /** Makes a server a standby of another one, from an online base backup. */
  async follow(server: number, primary: number): Promise<void> {
    await this.stop(server);
    const data = this.#data(server);
    await rm(data, { recursive: true, force: true });
    const client = await this.#connect(primary);
    try {
      // Both calls belong to one session.
      await client.query("SELECT pg_backup_start('standby', fast => true)");
      await cp(this.#data(primary), data, { recursive: true, filter: isCopied });
      const stopped = await client.query("SELECT labelfile FROM pg_backup_stop(false)");
      await writeFile(join(data, "backup_label"), String(stopped.rows[0]?.labelfile));
    } finally {
      await client.end();
    }
    // The standby streams the WAL from its primary.
    await mkdir(join(data, "pg_wal", "archive_status"), { recursive: true });
    const source = `host=127.0.0.1 port=${this.#port(primary)} user=postgres password=${PASSWORD}`;
    await writeFile(join(data, "postgresql.auto.conf"), `primary_conninfo = '${source}'\n`);
    await writeFile(join(data, "standby.signal"), "");
    await this.#home.own(data);
    await this.start(server);
  }

  async query(
    server: number,
    sql: string,
    database = "postgres",
  ): Promise<Record<string, unknown>[]> {
    const client = await this.#connect(server, database);
    try {
      const result = await client.query(sql);
      return result.rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  async end(): Promise<void> {
    for (const child of this.#running.values()) child.kill("SIGQUIT");
    await Promise.all([...this.#running.values()].map((child) => stop(child)));
    await rm(this.#home.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  /** Switches `server` to synchronous replication; its standby must be connected. */
  async synchronize(server: number): Promise<void> {
    for (;;) {
      const rows = await this.query(server, "SELECT 1 FROM pg_stat_replication");
      if (rows.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await this.query(server, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.query(server, "SELECT pg_reload_conf()");
  }

  async #connect(server: number, database = "postgres"): Promise<pg.Client> {
    const port = this.#port(server);
    const client = new pg.Client(`postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`);
    // A killed server resets its connections.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  #port(server: number): number {
    return this.#ports[server] as number;
  }

  #data(server: number): string {
    return join(this.#home.folder, `data-${server}`);
  }
}
