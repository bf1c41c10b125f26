/**
 * Renames entry ids inside an entry's data: a label's target, a compaction's first kept entry.
 *
 * A fork copies entries under new ids, so references to copied entries must name the copies.
 */

/** A quoted ULID, as in JSON. */
const QUOTED_ID = /"([0-9A-HJKMNP-TV-Z]{26})"/g;

/** Replaces the ids in JSON text that have a copy in `copies`. */
export function remapIds(content: string, copies: ReadonlyMap<string, string>): string {
  return content.replace(QUOTED_ID, (whole, id: string) => {
    const copy = copies.get(id);
    return copy === undefined ? whole : `"${copy}"`;
  });
}
