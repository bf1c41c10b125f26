/**
 * LISTEN/NOTIFY with polling as a fallback: signals commits to listeners in this and other processes.
 *
 * NOTIFY is sent at most every 50 ms and outside the transaction of the write, because it takes a
 * lock that serialises all commits of the database. Notifications can be lost with a connection, so
 * the feed positions are also polled every second. On a hot standby and behind a pooler in
 * transaction mode only polling works, and it is more frequent.
 */

import { sumPositions } from "./operations/feed.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { connectListener } from "./postgres-driver.ts";
import { statements } from "./postgres-statements.ts";

const CHANNEL = "backscroll_changes";
const NOTIFY_EVERY_MS = 50;
const POLL_MS = 1_000;
/** A subscriber's longest delay without a listener. */
const POLL_ALONE_MS = 150;
const RECONNECT_MS = 1_000;

const SQL = statements("signal", {
  notify: `SELECT pg_notify($1, '')`,
});

export class ChangeSignal {
  readonly #listenAt: (() => Promise<string>) | undefined;
  readonly #db: PostgresDatabase;
  readonly #listeners = new Set<() => void>();
  #connection: Promise<{ end(): Promise<void> } | undefined> | undefined;
  #poll: NodeJS.Timeout | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #notify: NodeJS.Timeout | undefined;
  #notifiedAt = 0;
  #seen: number | undefined;

  /** Listens at an address on its own connection; without one it polls. */
  constructor(listenAt: (() => Promise<string>) | undefined, db: PostgresDatabase) {
    this.#listenAt = listenAt;
    this.#db = db;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) void this.#stop();
    };
  }

  /** After a commit of this process. */
  committed(): void {
    this.#tell();
    if (this.#notify !== undefined) return;
    const wait = Math.max(0, this.#notifiedAt + NOTIFY_EVERY_MS - Date.now());
    this.#notify = setTimeout(() => {
      this.#notify = undefined;
      this.#notifiedAt = Date.now();
      // A node that misses it polls within a second.
      this.#db.plain((db) => db.all(SQL.notify, CHANNEL)).catch(() => undefined);
    }, wait);
    this.#notify.unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#notify);
    this.#listeners.clear();
    await this.#stop();
  }

  #start(): void {
    const isAlone = this.#listenAt === undefined;
    this.#connection = this.#connect();
    this.#poll = setInterval(() => void this.#look(), isAlone ? POLL_ALONE_MS : POLL_MS);
    this.#poll.unref();
    void this.#look();
  }

  async #stop(): Promise<void> {
    clearInterval(this.#poll);
    clearTimeout(this.#reconnect);
    const connection = this.#connection;
    this.#connection = undefined;
    const client = await connection;
    await client?.end();
  }

  /** Undefined on failure; retried later. */
  async #connect(): Promise<{ end(): Promise<void> } | undefined> {
    if (this.#listenAt === undefined) return undefined;
    const heard = () => this.#tell();
    const lost = () => this.#connectLater();
    try {
      return await connectListener(await this.#listenAt(), CHANNEL, heard, lost);
    } catch {
      // Store operations report server errors to their callers.
      this.#connectLater();
      return undefined;
    }
  }

  #connectLater(): void {
    if (this.#connection === undefined) return;
    clearTimeout(this.#reconnect);
    this.#reconnect = setTimeout(() => {
      this.#connection = this.#connect();
    }, RECONNECT_MS);
    this.#reconnect.unref();
  }

  async #look(): Promise<void> {
    const positions = await this.#db.plain(sumPositions).catch(() => undefined);
    if (positions === undefined || positions === this.#seen) return;
    this.#seen = positions;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
