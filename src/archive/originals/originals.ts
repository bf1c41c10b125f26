/**
 * Keeps the bytes of ingested files: agents delete transcripts after weeks, and an improved reader
 * may find more in them.
 *
 * A file is stored in parts of up to 8 MiB, each a zstd frame. New bytes are merged with the
 * preceding parts that are not longer (the logarithmic method of log-structured indexes). So a file
 * that grows line by line has few parts, and each byte is compressed a number of times logarithmic
 * in its size.
 */

import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { compressFrame, decompressFrame } from "../../ingest/files/frame.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Original, OriginalRange } from "../../store/ingested-file.ts";

const PART_BYTES = 8 * 1024 * 1024;

/** A file whose bytes are to be kept. */
export interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeUs: number;
  /** The bytes of a range of the file; fewer if the file has become shorter. */
  readRange(start: number, length: number): Promise<Uint8Array>;
}

export interface Keeping {
  readonly workstation: string;
  readonly source: string;
  /** The version of the reader. */
  readonly reader: number;
  readonly sessionIds: readonly string[];
  /** Bytes before this are unchanged since the file was last kept; 0 if unknown. */
  readonly unchanged: number;
}

/** Stores the new bytes of a file. False if a session's retention forbids it. */
export async function keepOriginal(
  tenant: TenantApi,
  file: KeptFile,
  { workstation, source, reader, sessionIds, unchanged }: Keeping,
): Promise<boolean> {
  const { path, size, mtimeUs } = file;
  const [known] =
    unchanged === 0 ? [] : await tenant.originals.list({ workstation, path, limit: 1 });
  let start = firstReplaced(known?.parts ?? [], unchanged, size);
  const facts = { path, source, reader, mtimeUs, sessionIds };
  do {
    const bytes = await file.readRange(start, Math.min(PART_BYTES, size - start));
    const part = { start, size: bytes.length, bytes: await compressFrame(bytes) };
    const update = { ...facts, size, from: start, parts: [part] };
    if (!(await tenant.originals.put(workstation, update))) return false;
    if (bytes.length === 0) break;
    start += bytes.length;
  } while (start < size);
  return true;
}

/** The end of the stored parts that stay. */
export function firstReplaced(
  parts: readonly OriginalRange[],
  unchanged: number,
  size: number,
): number {
  const whole: OriginalRange[] = [];
  let end = 0;
  for (const part of parts) {
    if (part.start !== end || part.start + part.size > unchanged) break;
    whole.push(part);
    end += part.size;
  }
  for (let last = whole.pop(); last !== undefined; last = whole.pop()) {
    if (last.size > size - end || size - last.start > PART_BYTES) break;
    end = last.start;
  }
  return end;
}

/** The file, byte for byte. Throws `store_corrupt` if some of it is missing or damaged. */
export async function* readOriginal(
  tenant: TenantApi,
  { workstation, path, size, parts }: Original,
): AsyncGenerator<Uint8Array> {
  let end = 0;
  for (const part of parts) {
    if (part.start !== end) throw damaged(path, end);
    const stored = await tenant.originals.readPart(workstation, path, part.start);
    const bytes = stored === undefined ? undefined : decompressFrame(stored, PART_BYTES);
    if (bytes?.length !== part.size) throw damaged(path, part.start);
    yield bytes;
    end += part.size;
  }
  if (end !== size) throw damaged(path, end);
}

function damaged(path: string, offset: number): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `the kept bytes of ${path} are damaged or incomplete from byte ${offset} on; ingest the file again if it is still there (backscroll ingest --force)`,
    { details: { file: path, offset } },
  );
}
