/** Read/write splitting: a store that reads from a follower where possible and writes to the primary. */

import { type ReadPlace, TENANT_READS, type TenantRead } from "../../operations.ts";
import type { Store } from "../../store.ts";
import type { PostgresDatabase } from "../postgres-database.ts";
import type { PostgresStore } from "../postgres-store.ts";
import type { Follower } from "./follower.ts";
import { ReadRouter } from "./read-router.ts";

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
