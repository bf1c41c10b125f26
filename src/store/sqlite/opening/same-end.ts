/** Compares two write-ahead logs from a frame to their ends. */

import { promises } from "node:fs";
import { FRAME_HEADER_BYTES, HEADER_BYTES, readHeader } from "./log-format.ts";

const SLICE_BYTES = 1024 * 1024;

/** False also if one has no sound header. `frame` is counted from 0. */
export async function haveSameEnd(first: string, second: string, frame: number): Promise<boolean> {
  const a = await promises.open(first, "r");
  try {
    const b = await promises.open(second, "r");
    try {
      return await isSameFrom(a, b, frame);
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

async function isSameFrom(
  a: promises.FileHandle,
  b: promises.FileHandle,
  frame: number,
): Promise<boolean> {
  const { buffer: header } = await b.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const shape = readHeader(header);
  const { size } = await a.stat();
  if (shape === undefined || size !== (await b.stat()).size) return false;
  const [own, other] = [Buffer.alloc(SLICE_BYTES), Buffer.alloc(SLICE_BYTES)];
  let at = HEADER_BYTES + frame * (FRAME_HEADER_BYTES + shape.pageBytes);
  while (at < size) {
    const { bytesRead } = await a.read(own, 0, SLICE_BYTES, at);
    const { bytesRead: otherRead } = await b.read(other, 0, SLICE_BYTES, at);
    const length = Math.min(bytesRead, otherRead);
    if (length === 0 || own.compare(other, 0, length, 0, length) !== 0) return false;
    at += length;
  }
  return true;
}
