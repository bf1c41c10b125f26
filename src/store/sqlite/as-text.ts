/**
 * SQL for bytes as text. Content is stored as UTF-8 bytes; SQLite returns a text in a fraction of
 * the time of bytes, which are allocated separately.
 */
export function asText(column: string): string {
  return `CAST(${column} AS TEXT)`;
}
