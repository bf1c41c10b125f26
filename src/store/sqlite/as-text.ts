/**
 * Bytes as text, in SQL. Content is stored as bytes and is always UTF-8; SQLite hands out a text in a
 * fraction of the time of bytes, which come in memory of their own.
 */
export function asText(column: string): string {
  return `CAST(${column} AS TEXT)`;
}
