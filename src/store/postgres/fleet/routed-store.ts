/** Read/write splitting: a store that reads from a follower where possible and writes to the primary. */

import { BackscrollError } from "../../../model/errors.ts";
import { type ReadPlace, TENANT_READS, type TenantRead } from "../../operations.ts";
import type { FollowerStatus } from "../../records.ts";
import type { Store } from "../../store.ts";
import { sumPositions } from "../operations/feed.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { chooseFollower, type Follower } from "./follower.ts";

/** Adds a reader to `primary`, whose database is `db`, after a first probe of the followers. */
export async function withFollowers(
  primary: PostgresStore,
  db: PostgresDatabase,
  followers: readonly Follower[],
): Promise<Store> {
  const router = new ReadRouter(primary, db, followers);
  await router.look();
  const store: Store = {
    ...primary,
    status: async () => ({ ...(await primary.status()), followers: router.status() }),
    close: async () => {
      await router.close();
      await primary.close();
    },
  };
  return { ...store, reader: routedStore(store, primary, router) };
}

/** `TENANT_READS` says which reads followers answer, and what stays on the primary. */
function routedStore(whole: Store, primary: PostgresStore, router: ReadRouter): Store {
  const { read } = router;
  return {
    ...whole,
    ...readsOf(router),
    onChange: (listener) => router.onChange(listener),
    switches: () => primary.switches() + router.switches(),
    search: (tenant, request, signal) =>
      read(tenant, (store) => store.search(tenant, request, signal)),
    searchNotes: (tenant, request) => read(tenant, (store) => store.searchNotes(tenant, request)),
    findSessionsWithText: (tenant, request) =>
      read(tenant, (store) => store.findSessionsWithText(tenant, request)),
    findLines: (tenant, request) => read(tenant, (store) => store.findLines(tenant, request)),

    feedHead: async (tenant, position) => {
      // A subscription without a position starts at the primary's.
      const head = await (position === undefined
        ? primary.feedHead(tenant)
        : read(
            tenant,
            (store) => store.feedHead(tenant, position),
            ({ hashAt }) => hashAt !== undefined,
            position,
          ));
      router.saw(tenant, head.position);
      return head;
    },
    listChanges: async (tenant, after, limit, sessionId) => {
      const list = (store: Store) => store.listChanges(tenant, after, limit, sessionId);
      const page = await read(tenant, list, undefined, after);
      router.saw(tenant, page.through);
      return page;
    },
  };
}

/** The reads that followers may answer. */
function readsOf({ read }: ReadRouter): Partial<Store> {
  const reads: [string, unknown][] = [];
  for (const name of Object.keys(TENANT_READS) as TenantRead[]) {
    const { on, isWhole }: ReadPlace<never, never[]> = TENANT_READS[name];
    if (on === "primary") continue;
    const routed = (...args: [tenant: string]) =>
      read(
        args[0],
        (store) => (store[name] as (...all: unknown[]) => Promise<unknown>)(...args),
        isWhole && ((answer) => isWhole(answer as never, ...(args as unknown[] as never[]))),
      );
    reads.push([name, routed]);
  }
  return Object.fromEntries(reads);
}

/**
 * Routes reads to followers, with read-your-writes consistency.
 *
 * A read waits until the follower has replayed this process's own writes for the tenant, at most
 * 200 ms; after that, and when the follower fails or cancels it, it runs on the primary.
 */

/** How long a read waits on a follower for this process's own writes. */
const OWN_WRITES_MS = 200;
/** The probe interval. */
const LOOK_EVERY_MS = 1_000;

export class ReadRouter {
  readonly #primary: Store;
  readonly #db: PostgresDatabase;
  readonly #followers: readonly Follower[];
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #turn = 0;
  #closed = false;

  /** `db` is the database of `primary`. */
  constructor(primary: Store, db: PostgresDatabase, followers: readonly Follower[]) {
    this.#primary = primary;
    this.#db = db;
    this.#followers = followers;
    // After a lossy failover the same positions denote other changes.
    db.onSwitch(() => {
      for (const follower of followers) follower.forget();
    });
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /**
   * Runs `body` on a follower or on the primary. An incomplete answer is repeated on the primary:
   * the follower may lack the rest. `after` is a feed position that the caller has seen.
   */
  readonly read = async <Answer>(
    tenant: string,
    body: (store: Store) => Promise<Answer>,
    isWhole: (answer: Answer) => boolean = () => true,
    after = 0,
  ): Promise<Answer> => {
    const follower = this.#choose();
    const store = follower?.store;
    if (follower === undefined || store === undefined) return body(this.#primary);
    try {
      const position = Math.max(this.#db.marks.of(tenant), after);
      if (await follower.reaches(tenant, position, Date.now() + OWN_WRITES_MS)) {
        const answer = await body(store);
        if (isWhole(answer)) return answer;
      }
    } catch (error) {
      // A caller's error fails on the primary too.
      if (BackscrollError.is(error, "store_unavailable")) follower.leaveOut();
    }
    return body(this.#primary);
  };

  /**
   * Monotonic reads: a caller has seen the feed up to `position`, so later reads need a server that
   * has it.
   */
  saw(tenant: string, position: number): void {
    this.#db.marks.note(tenant, position);
  }

  status(): FollowerStatus[] {
    const now = Date.now();
    return this.#followers.map((follower) => follower.status(now));
  }

  /** Signals commits of this process, and others' once followers have replayed them. */
  onChange(listener: () => void): () => void {
    const stops = [this.#primary, ...this.#followers].map((source) => source.onChange(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** The number of openings of followers. */
  switches(): number {
    return this.#followers.reduce((sum, { openings }) => sum + openings, 0);
  }

  /** Probes all servers. */
  look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.all(this.#followers.map((follower) => follower.close()));
  }

  async #lookNow(): Promise<void> {
    const sum = await this.#db.plain(sumPositions).catch(() => undefined);
    if (this.#closed) return;
    await Promise.all(this.#followers.map((follower) => follower.look(Date.now, sum)));
  }

  #choose(): Follower | undefined {
    const now = Date.now();
    const states = this.#followers.map((follower) => follower.state(now));
    const chosen = chooseFollower(states, this.#turn++);
    return chosen === undefined ? undefined : this.#followers[chosen];
  }
}

/** Load balancing of reads over followers. Pure. */
