/** The tables that hold a store's content, in an order in which they can be filled again. */
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
  "changes",
  "tombstones",
] as const;

export type TableName = (typeof TABLES)[number];

export function isTableName(name: string): name is TableName {
  return (TABLES as readonly string[]).includes(name);
}
