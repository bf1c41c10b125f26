/**
 * Cache of the writer's rows across transactions, invalidated by `data_version`.
 *
 * An append to one of 1,000 cached sessions needs no read: the leaf, the counters and the feed's
 * head are cached. Each transaction first checks SQLite's `data_version`; the cache is cleared when
 * another connection has committed, after a rollback, and around any other operation.
 */

import type { NumberedSession } from "../rows/state-row.ts";

/** The columns of the tenant's row that a write reads and updates; a null limit means none. */
export interface TenantState {
  readonly position: number;
  readonly hash: Uint8Array;
  readonly lastSession: number;
  /** The row number of position 0 among the entries. */
  readonly rowBeforeFeed: number;
  /** The position in the tenant's row, which is written behind. */
  readonly writtenPosition: number;
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly contentBytes: number;
  readonly maxSessions: number | null;
  readonly maxEntries: number | null;
  readonly maxContentBytes: number | null;
}

/** Enough for the sessions written concurrently. */
const MAX_SESSIONS = 1_000;

export class WriteCache {
  /** By session id, per tenant. Nested maps: concatenating a key costs more than both look-ups. */
  readonly #sessions = new Map<number, Map<string, NumberedSession>>();
  #sessionCount = 0;
  /** Known participants, by session number and name, per tenant. */
  readonly #participants = new Map<number, Map<number, Set<string>>>();
  /** The tenant rows: feed position, head, counters and quota. */
  readonly #tenants = new Map<number, TenantState>();

  forget(): void {
    this.#sessions.clear();
    this.#sessionCount = 0;
    this.#participants.clear();
    this.#tenants.clear();
  }

  session(tenant: number, id: string): NumberedSession | undefined {
    return this.#sessions.get(tenant)?.get(id);
  }

  keepSession(tenant: number, session: NumberedSession): void {
    if (this.#sessionCount >= MAX_SESSIONS) this.forget();
    const sessions = inner(this.#sessions, tenant, () => new Map<string, NumberedSession>());
    const before = sessions.size;
    sessions.set(session.state.sessionId, session);
    this.#sessionCount += sessions.size - before;
  }

  isParticipant(tenant: number, session: number, actor: string): boolean {
    return this.#participants.get(tenant)?.get(session)?.has(actor) ?? false;
  }

  keepParticipant(tenant: number, session: number, actor: string): void {
    const sessions = inner(this.#participants, tenant, () => new Map<number, Set<string>>());
    inner(sessions, session, () => new Set<string>()).add(actor);
  }

  tenant(tenant: number): TenantState | undefined {
    return this.#tenants.get(tenant);
  }

  keepTenant(tenant: number, state: TenantState): void {
    this.#tenants.set(tenant, state);
  }
}

function inner<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
