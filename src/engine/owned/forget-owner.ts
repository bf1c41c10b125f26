/**
 * Deletes everything of one owner: what `eachOwned` gives. Each step is durable before the next, so
 * an interrupted deletion continues when called again.
 */

import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkInput } from "../check.ts";
import { unlessGone } from "../delete-tenant.ts";
import { type EngineContext, forReading } from "../engine-context.ts";
import { removeEntry } from "../forget.ts";
import { maintainIndex } from "../maintain-index.ts";
import { sweepAll } from "../sweep.ts";
import { eachOwned, type OwnedItem } from "./each-owned.ts";

/** Counts of deleted items; of tokens, revoked ones. */
export interface OwnerDeletion {
  readonly sessions: number;
  /** Messages that the owner wrote in sessions of others. */
  readonly entries: number;
  readonly facts: number;
  readonly memories: number;
  readonly records: number;
  readonly routes: number;
  readonly tokens: number;
  /** Sessions of others in which the owner is a participant no more. */
  readonly participations: number;
  /** Of those, the ones with a summary, which stays and may quote the owner. */
  readonly summaries: number;
}

export interface ForgetOwnerOptions {
  /** Counts, and deletes nothing. */
  readonly dryRun?: boolean;
  /** Called after each item. */
  readonly onProgress?: (progress: OwnerDeletion) => void;
}

const COUNTS = {
  session: "sessions",
  entry: "entries",
  fact: "facts",
  memory: "memories",
  record: "records",
  route: "routes",
  token: "tokens",
  participation: "participations",
} as const satisfies Readonly<Record<OwnedItem["type"], keyof OwnerDeletion>>;

export async function forgetOwner(
  engine: EngineContext,
  owner: string,
  options: ForgetOwnerOptions,
): Promise<OwnerDeletion> {
  const { dryRun = false, onProgress } = checkInput(options, "options", INPUTS.forgetOwner);
  const { store, tenant } = engine;
  const sweep = () => sweepAll((limit) => store.sweep({ tenant, now: engine.now(), limit }));
  // Messages of writers that have died become entries.
  if (!dryRun) await sweep();
  const counts = {
    sessions: 0,
    entries: 0,
    facts: 0,
    memories: 0,
    records: 0,
    routes: 0,
    tokens: 0,
    participations: 0,
    summaries: 0,
  };
  for await (const item of eachOwned(engine, owner)) {
    if (!dryRun && !(await unlessGone(deleteOwned(engine, owner, item)))) continue;
    counts[COUNTS[item.type]]++;
    if (item.type === "participation" && item.session.summary !== null) counts.summaries++;
    onProgress?.({ ...counts });
  }
  if (dryRun) return counts;
  // Rows of a session whose deletion was interrupted: no list has it any more.
  await sweep();
  await maintainIndex(engine, "purge", {});
  return counts;
}

async function deleteOwned(
  engine: EngineContext,
  owner: string,
  item: OwnedItem,
): Promise<unknown> {
  const { store, tenant, by } = engine;
  const now = engine.now();
  switch (item.type) {
    case "session":
      return store.deleteSession(tenant, item.session.id, "owner", now, by);
    case "entry":
      return removeEntry(engine, item.entry);
    case "fact":
      return store.retireFact(tenant, item.fact.id, null, now);
    case "memory":
      return store.deleteMemory(tenant, item.memory.agent, item.memory.name, now);
    case "record": {
      const { namespace, key } = item.record;
      return store.writeRecords(tenant, { operations: [{ namespace, key, put: null }], now });
    }
    case "route":
      return store.deleteRoute(tenant, item.route.key, now, by);
    case "token":
      return store.revokeToken(tenant, item.token.id, now, by);
    case "participation": {
      const participants = item.session.participants.filter((name) => name !== owner);
      return store.updateSession(tenant, item.session.id, { participants }, now);
    }
  }
}

export class Owned {
  readonly #engine: EngineContext;
  readonly #owner: string;

  constructor(engine: EngineContext, owner: string) {
    this.#engine = engine;
    this.#owner = checkName(owner, "owner");
  }

  /**
   * Their sessions and the forks of these, their messages in other sessions, and the memories,
   * facts, records, routes and tokens that name them or one of the sessions.
   */
  each(): AsyncGenerator<OwnedItem> {
    return eachOwned(forReading(this.#engine), this.#owner);
  }

  /** Deletes all of it and purges the index. Called again, it continues an interrupted deletion. */
  forget(options: ForgetOwnerOptions = {}): Promise<OwnerDeletion> {
    return forgetOwner(this.#engine, this.#owner, options);
  }
}
