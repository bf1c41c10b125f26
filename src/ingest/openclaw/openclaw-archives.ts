/**
 * Archived sessions of openclaw.
 *
 * A deleted or reset one is a file in pi's format, stored in a column, compressed or not. A long
 * idle ("cold") one is compressed with its derived rows: a line per row, of which the events are
 * the records. It is in the database or in a separate folder.
 */

import { createZstdDecompress } from "node:zlib";
import { countField, objectField, textField } from "../fields.ts";
import { readRecords } from "../jsonl.ts";
import { type Line, MAX_LINE_BYTES, splitLines } from "../lines.ts";
import { cutRecord } from "../long/long-line.ts";
import type { ProblemLog } from "../problems.ts";
import type { FileAccess } from "../source.ts";
import type { ForeignDatabase, Row } from "../sqlite-file.ts";

export const ARCHIVES = "session_transcript_archives";
export const COLD_ARCHIVES = "session_transcript_cold_archives";

/** Compressed; openclaw itself does not archive larger sessions. */
const MAX_ARCHIVE_BYTES = MAX_LINE_BYTES;

/** Decompressed. One line is in memory at a time, so this bounds the time that a trap can take. */
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;

/** A record of a cold archive is a value of its line, and cannot be cut before the line is read. */
const MAX_ARCHIVED_LINE_BYTES = 32 * 1024 * 1024;

export function hasArchives(database: ForeignDatabase, table: string): boolean {
  return ["session_id", "archive_name", "archive_blob"].every((name) => database.has(table, name));
}

/** The archives of a session, each as the lines of a file. Unreadable ones are counted. */
export function* archivedLines(
  database: ForeignDatabase,
  id: string,
  files: FileAccess | undefined,
  problems: ProblemLog,
): Generator<AsyncGenerator<Line>> {
  for (const row of rowsOf(database, ARCHIVES, id)) {
    yield cutLines(unpackLines(blobOf(database, ARCHIVES, row), nameOf(row), problems), problems);
  }
  for (const row of rowsOf(database, COLD_ARCHIVES, id)) {
    const kept = blobOf(database, COLD_ARCHIVES, row);
    const bytes = kept ?? readFile(files, nameOf(row));
    yield eventsOf(unpackLines(bytes, nameOf(row), problems), problems);
  }
}

/** Without their content. */
function rowsOf(database: ForeignDatabase, table: string, id: string): Row[] {
  if (!hasArchives(database, table)) return [];
  const columns = "rowid AS number, archive_name AS name, length(archive_blob) AS size";
  const sql = `SELECT ${columns} FROM ${table} WHERE session_id = ? ORDER BY rowid`;
  return [...database.rows(sql, id)];
}

function nameOf(row: Row): string {
  return textField(row, "name") ?? "";
}

function blobOf(database: ForeignDatabase, table: string, row: Row): Uint8Array | undefined {
  if ((countField(row, "size") ?? Number.POSITIVE_INFINITY) > MAX_ARCHIVE_BYTES) return undefined;
  const number = countField(row, "number") ?? -1;
  const [found] = database.rows(
    `SELECT archive_blob AS blob FROM ${table} WHERE rowid = ?`,
    number,
  );
  const blob = found?.["blob"];
  return blob instanceof Uint8Array ? blob : undefined;
}

/** The agent's database lies beside the folder of its sessions. */
async function readFile(
  files: FileAccess | undefined,
  name: string,
): Promise<Uint8Array | undefined> {
  if (!/^[\w-]+\.jsonl\.zst$/.test(name)) return undefined;
  return files?.readBytes(`../sessions/cold/${name}`, MAX_ARCHIVE_BYTES);
}

async function* unpackLines(
  archive: Uint8Array | undefined | Promise<Uint8Array | undefined>,
  name: string,
  problems: ProblemLog,
): AsyncGenerator<Line> {
  const bytes = await archive;
  if (bytes === undefined) {
    problems.add("unreadable", `the archive ${name} is missing, or too large`);
    return;
  }
  const maxBytes = MAX_ARCHIVED_LINE_BYTES;
  yield* splitLines(isPacked(bytes) ? unpack(bytes, name, problems) : [bytes], { maxBytes });
}

/** Not for a cold archive, in which a record is a value of its line. */
async function* cutLines(lines: AsyncIterable<Line>, problems: ProblemLog): AsyncGenerator<Line> {
  for await (const line of lines) {
    yield { ...line, text: cutRecord(line.text, `line ${line.number}`, problems) };
  }
}

function isPacked(bytes: Uint8Array): boolean {
  return ZSTD_MAGIC.every((byte, i) => bytes[i] === byte);
}

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

async function* unpack(
  bytes: Uint8Array,
  name: string,
  problems: ProblemLog,
): AsyncGenerator<Uint8Array> {
  const unpacked = createZstdDecompress();
  unpacked.end(bytes);
  let length = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_UNPACKED_BYTES) {
        problems.add("unpacks_too_far", `the archive ${name} unpacks to more than 1 GiB`);
        return;
      }
      yield chunk;
    }
  } catch (error) {
    problems.add("unreadable", `the archive ${name} is damaged: ${(error as Error).message}`);
  } finally {
    unpacked.destroy();
  }
}

async function* eventsOf(lines: AsyncIterable<Line>, problems: ProblemLog): AsyncGenerator<Line> {
  let number = 0;
  for await (const { record } of readRecords(lines, problems)) {
    if (record["kind"] !== "event") continue;
    const row = objectField(record, "row");
    const text = textField(row, "event_json");
    number++;
    if (text !== undefined) yield { number, offset: 0, text, ended: true };
    else problems.add("unexpected", "a record of an archive has no content", number);
  }
}
