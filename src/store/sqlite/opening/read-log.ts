/**
 * Reads a write-ahead log for `LogScan` in slices.
 *
 * With plain file calls: SQLite holds POSIX locks on the database and on the `-shm` file, none on the
 * log, so closing it drops no lock of this process.
 */

import { promises } from "node:fs";
import { FRAME_HEADER_BYTES, HEADER_BYTES } from "./log-format.ts";
import { type LogLoss, LogScan } from "./log-scan.ts";

/** The slice size. */
const SLICE_BYTES = 2 * 1024 * 1024;
/** Bytes up to the second frame of the largest page (64 KB): two frames identify a headless log. */
const START_BYTES = HEADER_BYTES + 2 * (FRAME_HEADER_BYTES + 65_536);

/** Undefined if there is no loss or no log. Throws read errors. */
export async function scanLog(path: string): Promise<LogLoss | undefined> {
  const file = await openLog(path);
  if (file === undefined) return undefined;
  try {
    return await scanFile(file);
  } finally {
    await file.close();
  }
}

async function openLog(path: string): Promise<promises.FileHandle | undefined> {
  try {
    return await promises.open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function scanFile(file: promises.FileHandle): Promise<LogLoss | undefined> {
  const { size } = await file.stat();
  if (size === 0) return undefined;
  const buffer = Buffer.allocUnsafeSlow(Math.min(SLICE_BYTES, Math.max(START_BYTES, size)));
  const scan = LogScan.begin(await readSlice(file, buffer.subarray(0, START_BYTES), 0));
  if (scan === undefined) return undefined;
  const { frameBytes } = scan;
  const sliceBytes = Math.floor(buffer.length / frameBytes) * frameBytes;
  for (let position = HEADER_BYTES; ; position += sliceBytes) {
    const slice = await readSlice(file, buffer.subarray(0, sliceBytes), position);
    if (slice.length < frameBytes) return scan.finish();
    scan.add(slice);
  }
}

/** As much as exists from `position` on. */
async function readSlice(
  file: promises.FileHandle,
  buffer: Buffer,
  position: number,
): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(
      buffer,
      length,
      buffer.length - length,
      position + length,
    );
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length - (length % 4));
}
