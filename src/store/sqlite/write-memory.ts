/**
 * What the writer remembers from one transaction to the next.
 *
 * An append to a session that this connection wrote last needs to read nothing: it knows the leaf,
 * the counters and the feed's head. That holds only while nobody else commits, so whoever begins a
 * transaction checks SQLite's data version first, and everything is forgotten when it has moved,
 * when a transaction is rolled back, and around any operation that is not an append.
 */

import type { NumberedSession } from "../rows/state-row.ts";
import type { SqlRow } from "./sqlite-driver.ts";

/** Enough for the sessions that are being written at one time. */
const MAX_SESSIONS = 1_000;

export class WriteMemory {
  /** By tenant and session id. */
  readonly #sessions = new Map<string, NumberedSession>();
  /** Actors known to take part, by tenant, session number and name. */
  readonly #participants = new Set<string>();
  /** The tenant rows: feed position, head, counters and quota. */
  readonly #tenants = new Map<number, SqlRow>();

  forget(): void {
    this.#sessions.clear();
    this.#participants.clear();
    this.#tenants.clear();
  }

  session(tenant: number, id: string): NumberedSession | undefined {
    return this.#sessions.get(`${tenant}/${id}`);
  }

  keepSession(tenant: number, session: NumberedSession): void {
    if (this.#sessions.size >= MAX_SESSIONS) this.forget();
    this.#sessions.set(`${tenant}/${session.state.sessionId}`, session);
  }

  isParticipant(tenant: number, session: number, actor: string): boolean {
    return this.#participants.has(`${tenant}/${session}/${actor}`);
  }

  keepParticipant(tenant: number, session: number, actor: string): void {
    this.#participants.add(`${tenant}/${session}/${actor}`);
  }

  tenant(tenant: number): SqlRow | undefined {
    return this.#tenants.get(tenant);
  }

  keepTenant(tenant: number, row: SqlRow): void {
    this.#tenants.set(tenant, row);
  }
}
