/** Which parts of imported entries go into a pack, and which stay in their rows. */

import type { EntryRow } from "../../plan-append.ts";
import type { NewEntry } from "../../records.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { isPackable, packTexts } from "./pack.ts";
import { isSplit, splitSaid } from "./said.ts";

const SQL = statements("write_pack", {
  insert: `INSERT INTO packs (tenant, session, pack, bytes) VALUES (?, ?, ?, ?)`,
});

/** Less than a page or two, such as one line of a file that is followed, gains nothing. */
const MIN_PACKED_BYTES = 2_048;

/** What a row keeps, and where the rest of it is. */
export interface StoredParts {
  readonly content: Uint8Array | null;
  readonly metadata: Uint8Array | null;
  /** The number of the pack; null if there is no rest. */
  readonly pack: number | null;
}

/** Stores the pack of entries that are written together, if one is of use, and says what is left. */
export function writePack(
  db: SqliteConnection,
  tenant: number,
  session: number,
  rows: readonly EntryRow[],
): StoredParts[] {
  const number = rows[0]?.place.sequence ?? 0;
  const texts: Uint8Array[] = [];
  let bytes = 0;
  const parts = rows.map((row): StoredParts => {
    const { kept, packed } = dividedContent(row);
    const metadata = metadataBytes(row.entry);
    const packsMetadata = metadata !== null && isPackable(metadata);
    const packedMetadata = packsMetadata ? metadata : NOTHING;
    texts.push(packed, packedMetadata);
    const packedBytes = packed.length + packedMetadata.length;
    bytes += packedBytes;
    return {
      content: kept,
      metadata: packsMetadata ? null : metadata,
      pack: packedBytes > 0 ? number : null,
    };
  });
  if (bytes < MIN_PACKED_BYTES) return rows.map(ownParts);
  // An append numbers its entries without gaps: a place in the pack follows from the sequence.
  db.run(SQL.insert, tenant, session, number, packTexts(texts));
  return parts;
}

/** Of an entry that is in no pack. */
export function ownParts({ entry, content }: EntryRow): StoredParts {
  return { content, metadata: metadataBytes(entry), pack: null };
}

const NOTHING = new Uint8Array(0);

interface DividedContent {
  readonly kept: Uint8Array | null;
  /** Empty if it is all kept. */
  readonly packed: Uint8Array;
}

function dividedContent({ entry, content }: EntryRow): DividedContent {
  if (!isPackable(content) || isSplit(entry.content)) return { kept: content, packed: NOTHING };
  if (!isSaid(entry)) return { kept: null, packed: content };
  const split = splitSaid(entry.content);
  if (split === undefined) return { kept: content, packed: NOTHING };
  return { kept: Buffer.from(split.said), packed: Buffer.from(split.rest) };
}

function metadataBytes({ metadata }: NewEntry): Uint8Array | null {
  return metadata === null ? null : Buffer.from(metadata);
}

/**
 * What people and models said is read in its row, by SQL as well. A quotation mark inside a text is
 * escaped, so the words below are those of a block.
 */
function isSaid({ kind, role, content }: NewEntry): boolean {
  const isSpeaker = role === "user" || role === "assistant";
  return kind === "message" && isSpeaker && content.includes('"type":"text"');
}
