/** The tables with a store's content, in an order that satisfies foreign keys. */
export const TABLES = [
  "tenants",
  "sessions",
  "session_state",
  "participants",
  "chains",
  "entries",
  "blobs",
  "entry_blobs",
  "streams",
  "stream_chunks",
  "idempotency",
  "memories",
  "facts",
  "records",
  "changes",
  "tombstones",
  "ingested_files",
  "originals",
  "original_parts",
  "original_sessions",
  "access_tokens",
  "routes",
  "route_sessions",
] as const;

export type TableName = (typeof TABLES)[number];

export function isTableName(name: string): name is TableName {
  return (TABLES as readonly string[]).includes(name);
}

/**
 * The tables of the index. Derived from the others, so copies of a store omit them. On SQLite all
 * but the manifest are in a separate file.
 */
export const INDEX_TABLES = ["index_manifest", "index_segments", "index_blobs"] as const;

/**
 * Tables that exist on SQLite only: packs hold columns of `entries`, which a dump unpacks into its
 * rows.
 */
export const STORAGE_TABLES = ["packs"] as const;

/** Maintained by triggers, which also fill it during a load: copies omit it. */
export const DERIVED_TABLES = ["session_models"] as const;

/** Tables of running processes. They belong to no tenant, and copies of a store omit them. */
export const PROCESS_TABLES = ["leases"] as const;
