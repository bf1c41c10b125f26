/** Opens a store on PostgreSQL by its address. */

import { BackscrollError } from "../../model/errors.ts";
import { describeConflict, type IndexSetting, warnOfConflict } from "../index/stored-indexing.ts";
import type { Store, StoreOptions } from "../store.ts";
import { ChangeSignal } from "./change-signal.ts";
import { Follower, type OpenedFollower } from "./fleet/follower.ts";
import { withFollowers } from "./fleet/routed-store.ts";
import { parseAddress } from "./postgres-address.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import {
  checkVersion,
  migrate,
  readSchema,
  readSetting,
  settleSetting,
} from "./postgres-schema.ts";
import { PostgresStore } from "./postgres-store.ts";

/** `address` is `postgres://user:password@host:port/database`. */
export async function openPostgresStore(
  address: string,
  options: StoreOptions = {},
): Promise<Store> {
  const followers = (options.replicas ?? []).map((replica) => toFollower(replica, options));
  const db = new PostgresDatabase(address, options);
  const setting = await prepare(db, options);
  const conflict = describeConflict(options.indexing ?? {}, setting);
  if (conflict !== undefined) (options.onWarning ?? warnOfConflict)(conflict);
  const indexing = { ...options.indexing, ...setting };
  const signal = new ChangeSignal(listenerOf(db, options), db);
  const store = new PostgresStore(db, signal, { ...options, indexing });
  return followers.length === 0 ? store : withFollowers(store, db, followers);
}

async function prepare(db: PostgresDatabase, options: StoreOptions): Promise<IndexSetting> {
  try {
    return await makeReady(db, options);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Where to listen for changes. Default: the server in use. Undefined: poll. */
function listenerOf(
  db: PostgresDatabase,
  { notify = "listen", readOnly = false }: StoreOptions,
): (() => Promise<string>) | undefined {
  if (notify === "poll") return undefined;
  if (notify !== "listen") return async () => notify;
  return readOnly ? undefined : () => db.host();
}

function toFollower(address: string, options: StoreOptions): Follower {
  const shown = parseAddress(address).shown;
  return new Follower(shown, () => openFollower(address, options));
}

/** A follower neither writes nor maintains the index, and its failures are not retried there. */
async function openFollower(address: string, options: StoreOptions): Promise<OpenedFollower> {
  const own: StoreOptions = { ...options, readOnly: true };
  const db = new PostgresDatabase(address, own, "follower");
  const setting = await prepare(db, own);
  const indexing = { ...options.indexing, ...setting, flushAt: 0 };
  const store = new PostgresStore(db, new ChangeSignal(undefined, db), { ...own, indexing });
  return { store, db };
}

/** Checks the schema, or brings it up to date. */
export function makeReady(db: PostgresDatabase, options: StoreOptions): Promise<IndexSetting> {
  const readOnly = options.readOnly ?? false;
  const create = (options.create ?? true) && !readOnly;
  return db.plain(async (connection) => {
    const state = await readSchema(connection);
    if (state === undefined && !create) {
      throw new BackscrollError("store_not_found", `there is no store at ${db.address}`, {
        details: { address: db.address },
      });
    }
    if (!readOnly) await migrate(connection);
    await checkVersion(connection, readOnly ? "read" : "write");
    const requested = options.indexing ?? {};
    return readOnly ? readSetting(connection, requested) : settleSetting(connection, requested);
  });
}
