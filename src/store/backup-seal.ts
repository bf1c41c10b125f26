/**
 * The seal of a backup: a checksum of each part that a restore reads, kept in a table of the file.
 *
 * A part is a batch of the dump, so that a restore checks exactly what it loads, while it reads it.
 * The dump of a sealed store begins with its checksums. The file is an ordinary store: the first
 * writer that opens it as one drops the seal.
 */

import { createHash } from "node:crypto";
import { BackscrollError } from "../model/errors.ts";
import type { Row, RowBatch } from "./records.ts";

/** The table of the checksums, with the columns `part` and `sha256`. */
export const SEAL_TABLE = "backup_parts";

/** The checksums of a dump, with the names of its parts. */
export async function sumsOf(batches: AsyncIterable<RowBatch>): Promise<[string, string][]> {
  const parts = new Parts();
  const sums: [string, string][] = [];
  for await (const batch of batches) sums.push([parts.nameOf(batch), sumOf(batch.rows)]);
  return sums;
}

/**
 * Gives the batches of a backup's dump, each compared with its checksum before. Throws
 * `store_corrupt` with the damaged part, also for a backup without checksums that cannot be read.
 * `onSeal` learns whether it has any: backups of 0.1.0 have none.
 */
export async function* checkedRows(
  path: string,
  batches: AsyncIterable<RowBatch>,
  onSeal: (isSealed: boolean) => void = () => undefined,
): AsyncGenerator<RowBatch> {
  const parts = new Parts();
  let sums: Map<unknown, unknown> | undefined;
  let last = "the beginning";
  try {
    for await (const batch of batches) {
      if (batch.table === SEAL_TABLE) {
        sums = new Map(batch.rows.map((row) => [row["part"], row["sha256"]]));
        continue;
      }
      if (parts.isEmpty) onSeal(sums !== undefined);
      last = parts.nameOf(batch);
      if (sums !== undefined && sums.get(last) !== sumOf(batch.rows)) {
        throw backupDamaged(path, `${last} does not match its checksum`);
      }
      sums?.delete(last);
      yield batch;
    }
  } catch (error) {
    if (BackscrollError.is(error) && error.code !== "store_corrupt") throw error;
    if (BackscrollError.is(error) && error.details["backup"] === path) throw error;
    throw backupDamaged(path, `what follows ${last} cannot be read`, error);
  }
  const [missing] = sums?.keys() ?? [];
  if (missing !== undefined) throw backupDamaged(path, `${missing} is missing`);
}

/** Names the parts of a dump by table and number. */
class Parts {
  readonly #numbers = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#numbers.size === 0;
  }

  nameOf({ table }: RowBatch): string {
    const number = (this.#numbers.get(table) ?? 0) + 1;
    this.#numbers.set(table, number);
    return `part ${number} of table ${table}`;
  }
}

/** Lengths make the text of a row unambiguous; bytes follow it as they are. */
function sumOf(rows: readonly Row[]): string {
  const hash = createHash("sha256");
  for (const row of rows) {
    const cells = Object.entries(row).map(([name, value]) => [name, ...written(value)]);
    hash.update(`${JSON.stringify(cells)}\n`);
    for (const value of Object.values(row)) if (value instanceof Uint8Array) hash.update(value);
  }
  return hash.digest("hex");
}

function written(value: unknown): readonly unknown[] {
  if (value instanceof Uint8Array) return ["bytes", value.length];
  return typeof value === "bigint" ? ["integer", String(value)] : [value];
}

export function backupDamaged(path: string, what: string, cause?: unknown): BackscrollError {
  const because = cause instanceof Error ? ` (${cause.message})` : "";
  return new BackscrollError(
    "store_corrupt",
    `the backup ${path} is damaged: ${what}${because}; restore another one, or read what is whole of it with --db ${path}`,
    { details: { backup: path }, cause },
  );
}
