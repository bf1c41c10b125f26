/** Packs entries: decides which parts go into the pack, and which stay in their rows. */

import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { isPackable, packTexts } from "./pack.ts";
import { splitTextBlocks } from "./text-blocks.ts";

const SQL = statements("write_pack", {
  insert: `INSERT INTO packs (tenant, session, pack, bytes) VALUES (?, ?, ?, ?)`,
});

/** Less than a page or two, such as one line of a followed file, gains nothing. */
const MIN_PACKED_BYTES = 2_048;

/** The parts of an entry that may be packed. */
export interface PackableEntry {
  readonly kind: string;
  readonly role: string | null;
  /** Null if it was erased. */
  readonly content: Buffer | null;
  readonly metadata: Uint8Array | null;
}

/** The columns of a row, and the place of the rest. */
export interface StoredParts {
  readonly content: Uint8Array | null;
  readonly metadata: Uint8Array | null;
  /** The pack's number; null without one. */
  readonly pack: number | null;
}

/**
 * A pack before it has a place. Entries are immutable, so it can be prepared before a lock is
 * taken.
 */
export interface PreparedPack {
  /** The columns of the rows, and whether a part of each is packed. */
  readonly parts: readonly { readonly stored: StoredParts; readonly isPacked: boolean }[];
  /** Undefined if a pack does not pay. */
  readonly bytes: Uint8Array | undefined;
}

export function preparePack(entries: readonly PackableEntry[]): PreparedPack {
  const texts: Uint8Array[] = [];
  let bytes = 0;
  const parts = entries.map((entry) => {
    const { kept, packed } = dividedContent(entry);
    const packsMetadata = entry.metadata !== null && isPackable(entry.metadata);
    const packedMetadata = packsMetadata ? entry.metadata : NOTHING;
    texts.push(packed, packedMetadata);
    const packedBytes = packed.length + packedMetadata.length;
    bytes += packedBytes;
    const metadata = packsMetadata ? null : entry.metadata;
    return { stored: { content: kept, metadata, pack: null }, isPacked: packedBytes > 0 };
  });
  if (bytes >= MIN_PACKED_BYTES) return { parts, bytes: packTexts(texts) };
  const whole = entries.map(({ content, metadata }) => ({ content, metadata, pack: null }));
  return { parts: whole.map((stored) => ({ stored, isPacked: false })), bytes: undefined };
}

/**
 * Stores the pack of entries with consecutive sequences from `first`, and gives the unpacked rest
 * of each: the sequence determines the slot.
 */
export function writePack(
  db: SqliteConnection,
  tenant: number,
  session: number,
  first: number,
  { parts, bytes }: PreparedPack,
): StoredParts[] {
  if (bytes !== undefined) db.run(SQL.insert, tenant, session, first, bytes);
  return parts.map(({ stored, isPacked }) => (isPacked ? { ...stored, pack: first } : stored));
}

const NOTHING = new Uint8Array(0);

interface DividedContent {
  readonly kept: Uint8Array | null;
  /** Empty if it is all kept. */
  readonly packed: Uint8Array;
}

function dividedContent(entry: PackableEntry): DividedContent {
  const { content, kind } = entry;
  // Searches read marks, which are labels, from their rows.
  if (kind === "label" || content === null || !isPackable(content) || content[0] === SPACE) {
    return { kept: content, packed: NOTHING };
  }
  if (!isSaid(entry, content)) return { kept: null, packed: content };
  // The cuts depend on ASCII alone, and no byte of another character is ASCII: latin1 strings are
  // cheaper, and give the same bytes.
  const split = splitTextBlocks(content.toString("latin1"));
  if (split === undefined) return { kept: content, packed: NOTHING };
  return { kept: Buffer.from(split.texts, "latin1"), packed: Buffer.from(split.rest, "latin1") };
}

/**
 * Message text stays in its row, readable by SQL. A quotation mark inside a text is escaped, so the
 * markers below are those of a block.
 */
function isSaid({ kind, role }: PackableEntry, content: Buffer): boolean {
  const isSpeaker = role === "user" || role === "assistant";
  return kind === "message" && isSpeaker && content.includes(TEXT_BLOCK);
}

const TEXT_BLOCK = Buffer.from('"type":"text"');

/** The first byte of split content, and of no other. */
const SPACE = 0x20;
