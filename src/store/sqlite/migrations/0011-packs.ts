import type { Migration } from "../../migration.ts";

/**
 * What an import reads of tool calls, their results, thoughts and metadata is much alike from one
 * entry to the next, so it is compressed together: an entry whose `pack` is set has its metadata, and
 * its content unless somebody said it, in the pack of its session with that number. What was said
 * stays in the entry, where the view `indexed_sessions` reads it.
 *
 * A pack's number is the sequence of the first entry that it was made for. `bytes` is zstd of UTF-8:
 * the content and the metadata of each sequence from that one on, each followed by a NUL but for the
 * last, and empty where the pack has none. A content that begins with a space is the blocks of text
 * alone: the pack has the rest, with U+0001 where they were. An older version would take a packed
 * entry for erased.
 *
 * A `parent_id` that is empty is the `id` of the row before: what an import writes mostly goes on from
 * there, and a row number never changes.
 */
export const PACKS: Migration = {
  version: 11,
  name: "packs",
  minReader: 11,
  minWriter: 11,
  sql: `
CREATE TABLE packs (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, session, pack)
);
ALTER TABLE entries ADD COLUMN pack INTEGER;
`,
};
