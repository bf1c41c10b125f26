/** Prepares a store for use. */

import { BackscrollError } from "../../model/errors.ts";
import type { IndexSetting } from "../index/stored-indexing.ts";
import type { StoreOptions } from "../store.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import {
  checkVersion,
  migrate,
  readSchema,
  readSetting,
  settleSetting,
} from "./postgres-schema.ts";

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
