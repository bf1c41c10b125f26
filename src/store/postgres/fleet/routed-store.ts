/** Read/write splitting: a store that reads from a follower where possible and writes to the primary. */

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

/**
 * These reads stay on the primary: tokens, which decide about access; pending messages, ingested
 * files, originals and the index's status, which are not in the feed; records and routes, whose
 * versions the next compare-and-swap needs; and due retention, which prepares a write.
 */
function routedStore(whole: Store, primary: PostgresStore, router: ReadRouter): Store {
  const { read } = router;
  return {
    ...whole,
    onChange: (listener) => router.onChange(listener),
    switches: () => primary.switches() + router.switches(),
    findSession: (tenant, id) => read(tenant, (store) => store.findSession(tenant, id), isFound),
    findSessionByOrigin: (tenant, key) =>
      read(tenant, (store) => store.findSessionByOrigin(tenant, key), isFound),
    findSessionRefs: (tenant, ref) =>
      read(
        tenant,
        (store) => store.findSessionRefs(tenant, ref),
        (found) => found.length > 0,
      ),
    listSessions: (tenant, filter, page) =>
      read(tenant, (store) => store.listSessions(tenant, filter, page)),
    readUsage: (tenant, ids) => read(tenant, (store) => store.readUsage(tenant, ids)),
    countModels: (tenant, ids) => read(tenant, (store) => store.countModels(tenant, ids)),
    readSessionSizes: (tenant, ids) =>
      read(
        tenant,
        (store) => store.readSessionSizes(tenant, ids),
        (sizes) => sizes.length >= ids.length,
      ),
    findTombstone: (tenant, id) =>
      read(tenant, (store) => store.findTombstone(tenant, id), isFound),
    findTombstoneByOrigin: (tenant, key) =>
      read(tenant, (store) => store.findTombstoneByOrigin(tenant, key), isFound),
    readEntries: (tenant, query) => read(tenant, (store) => store.readEntries(tenant, query)),
    findEntries: (tenant, ids, payloads, isRaw) =>
      read(
        tenant,
        (store) => store.findEntries(tenant, ids, payloads, isRaw),
        ({ entries }) => entries.length >= ids.length,
      ),
    findUsage: (tenant, ids) =>
      read(
        tenant,
        (store) => store.findUsage(tenant, ids),
        (found) => found.length >= ids.length,
      ),
    listLeaves: (tenant, sessionId, limit) =>
      read(tenant, (store) => store.listLeaves(tenant, sessionId, limit)),
    findMemory: (tenant, agent, name) =>
      read(tenant, (store) => store.findMemory(tenant, agent, name), isFound),
    listMemories: (tenant, agent, after, limit) =>
      read(tenant, (store) => store.listMemories(tenant, agent, after, limit)),
    findFact: (tenant, id) => read(tenant, (store) => store.findFact(tenant, id), isFound),
    listFacts: (tenant, sessionId, after, limit, superseded) =>
      read(tenant, (store) => store.listFacts(tenant, sessionId, after, limit, superseded)),
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

function isFound(answer: unknown): boolean {
  return answer !== undefined;
}
