/**
 * Entry ids inside the data of an entry: a label's target, a compaction's first kept entry.
 *
 * A fork copies entries under new ids, so what refers to a copied entry must name its copy.
 */

/** A ULID in quotes, as it stands in JSON. */
const QUOTED_ID = /"([0-9A-HJKMNP-TV-Z]{26})"/g;

/** Replaces the ids in JSON text that `copies` has a copy for. */
export function remapIds(content: string, copies: ReadonlyMap<string, string>): string {
  return content.replace(QUOTED_ID, (whole, id: string) => {
    const copy = copies.get(id);
    return copy === undefined ? whole : `"${copy}"`;
  });
}
