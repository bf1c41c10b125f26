/** Packs the entries of a dump, whose rows are unpacked. */

import type { Row } from "../../records.ts";
import { textOrNull } from "../../rows/text.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { preparePack, writePack } from "./write-pack.ts";

/** The batch size of an import. */
const MAX_ENTRIES = 128;
const MAX_BYTES = 128 * 1024;

/** Rows in this backend's form: with `pack`, and without packed columns. */
export function packLoaded(db: SqliteConnection, rows: readonly Row[]): Row[] {
  return [...runs(rows)].flatMap((run) => {
    const { tenant, session, sequence } = run[0] as Row;
    const entries = run.map((row) => ({
      kind: String(row["kind"]),
      role: textOrNull(row["role"]),
      content: bytesOf(row["content"]),
      metadata: bytesOf(row["metadata"]),
    }));
    const pack = preparePack(entries);
    const parts = writePack(db, Number(tenant), Number(session), Number(sequence), pack);
    return run.map((row, i) => ({ ...row, ...parts[i] }));
  });
}

/** Runs of consecutive sequences in one session, up to a pack's size. */
function* runs(rows: readonly Row[]): Generator<Row[]> {
  let run: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const last = run.at(-1);
    const isFull = run.length === MAX_ENTRIES || bytes >= MAX_BYTES;
    if (last !== undefined && (isFull || !follows(row, last))) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(row);
    bytes += (bytesOf(row["content"])?.length ?? 0) + (bytesOf(row["metadata"])?.length ?? 0);
  }
  if (run.length > 0) yield run;
}

function follows(row: Row, last: Row): boolean {
  return (
    row["tenant"] === last["tenant"] &&
    row["session"] === last["session"] &&
    Number(row["sequence"]) === Number(last["sequence"]) + 1
  );
}

function bytesOf(value: Row[string] | undefined): Buffer | null {
  if (!(value instanceof Uint8Array)) return null;
  return Buffer.from(value.buffer, value.byteOffset, value.length);
}
