/** Restores the packed parts of an entry's row. */

import { isDamage, packDamaged } from "../../damage/damage-errors.ts";
import { textOrNull } from "../../damage/stored-json.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { Pack } from "./pack.ts";
import { isSplit, joinTextBlocks } from "./text-blocks.ts";

const SQL = statements("read_pack", {
  read: `SELECT bytes FROM packs WHERE tenant = ? AND session = ? AND pack = ?`,
});

/**
 * Completes an entry's row with its packed content and metadata, in place. The row has `sequence`,
 * `pack`, and the unpacked parts of `content` and `metadata`.
 */
export function unfold<Row extends SqlRow>(
  db: SqliteConnection,
  tenant: number,
  session: number,
  row: Row,
): Row {
  const number = row["pack"];
  if (typeof number !== "number") return row;
  const pack = readPack(db, tenant, session, number);
  const slot = Number(row["sequence"]) - number;
  const whole: SqlRow = row;
  whole["content"] = wholeContent(textOrNull(row["content"]), pack.content(slot));
  whole["metadata"] ??= pack.metadata(slot);
  return row;
}

/** Whether a row's packed parts can be read. The index skips those that cannot. */
export function isReadable(
  db: SqliteConnection,
  tenant: number,
  session: number,
  number: SqlValue | undefined,
): boolean {
  return typeof number !== "number" || tryPack(db, tenant, session, number) !== undefined;
}

/**
 * The content alone, for a search, which skips damaged packs. Text-only content is never packed.
 */
export function shownContent(
  db: SqliteConnection,
  tenant: number,
  session: number,
  sequence: SqlValue | undefined,
  number: SqlValue | undefined,
  content: SqlValue | undefined,
): string | null {
  const kept = textOrNull(content);
  if (typeof number !== "number" || (kept !== null && !isSplit(kept))) return kept;
  const pack = tryPack(db, tenant, session, number);
  return pack === undefined ? kept : wholeContent(kept, pack.content(Number(sequence) - number));
}

function tryPack(
  db: SqliteConnection,
  tenant: number,
  session: number,
  number: number,
): Pack | undefined {
  try {
    return readPack(db, tenant, session, number);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

export function readPack(
  db: SqliteConnection,
  tenant: number,
  session: number,
  number: number,
): Pack {
  const known = db.packs.find(tenant, session, number);
  if (known !== undefined) return known;
  const bytes = db.get(SQL.read, tenant, session, number)?.["bytes"];
  if (!(bytes instanceof Uint8Array)) throw packDamaged(session, number);
  const pack = decoded(bytes, session, number);
  db.packs.keep(tenant, session, number, pack);
  return pack;
}

/** The content from the row, the pack, or both. */
function wholeContent(kept: string | null, packed: string | null): string | null {
  if (kept === null || packed === null) return kept ?? packed;
  return isSplit(kept) ? joinTextBlocks({ texts: kept, rest: packed }) : kept;
}

function decoded(bytes: Uint8Array, session: number, number: number): Pack {
  try {
    return new Pack(bytes);
  } catch (cause) {
    throw packDamaged(session, number, cause);
  }
}

/**
 * LRU cache of packs: a page's entries are mostly in one or two.
 *
 * A committed pack's number is never reused, and erased entries are not read, so readers never see
 * stale data. Rewriting a pack must bypass the cache. A rollback clears it.
 */
