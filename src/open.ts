/** The composition root: from an address to a backend to an engine. Only here is a backend named. */

import { Engine, type EngineOptions } from "./engine/engine.ts";
import { BackscrollError } from "./model/errors.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import type { Store, StoreOptions } from "./store/store.ts";

export interface OpenOptions extends StoreOptions, EngineOptions {}

/**
 * Opens a store, creating or migrating it if need be.
 *
 * `address` is the path of a SQLite file, `:memory:`, or `postgres://…`. Close it with `close()`, or
 * let `await using` do so.
 */
export async function open(address: string, options: OpenOptions = {}): Promise<Engine> {
  return new Engine(await openStore(address, options), options);
}

export async function openStore(address: string, options: StoreOptions = {}): Promise<Store> {
  switch (backendOf(address)) {
    case "postgres": {
      // Loaded only when it is needed: an embedded store should not pay for a database driver.
      const { openPostgresStore } = await import("./store/postgres/postgres-store.ts");
      return openPostgresStore(address, options);
    }
    case "sqlite":
      return openSqliteStore(address, options);
  }
}

export function backendOf(address: string): "sqlite" | "postgres" {
  if (typeof address !== "string" || address.trim() === "" || address.includes("\0")) {
    throw invalidAddress("an address must be a path, :memory: or postgres://…");
  }
  if (/^postgres(ql)?:\/\//i.test(address)) return "postgres";
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(address)?.[1];
  if (scheme !== undefined) {
    throw invalidAddress(`${scheme}:// is no store; use a path, :memory: or postgres://…`);
  }
  return "sqlite";
}

function invalidAddress(message: string): BackscrollError {
  return new BackscrollError("invalid_address", message);
}
