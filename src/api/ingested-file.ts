/** The read position of a file, on the wire. */

import type { IngestedFile } from "../store/ingested-file.ts";
import { fromWireBytes, fromWireTime, toWireBytes, toWireTime } from "./wire.ts";

export interface WireIngestedFile {
  readonly path: string;
  readonly source: string;
  readonly size: number;
  /** Microseconds since 1970: a file's time is compared, never shown. */
  readonly mtime_us: number;
  readonly offset: number;
  readonly lines: number;
  readonly tail_hash: string | null;
  readonly state: string | null;
  readonly seen_at: string;
}

export function toWireIngestedFile(file: IngestedFile): WireIngestedFile {
  const { path, source, size, mtimeUs, offset, lines, tailHash, state, seenAt } = file;
  return {
    path,
    source,
    size,
    mtime_us: mtimeUs,
    offset,
    lines,
    tail_hash: tailHash === null ? null : toWireBytes(tailHash),
    state,
    seen_at: toWireTime(seenAt),
  };
}

export function fromWireIngestedFile(file: WireIngestedFile): IngestedFile {
  const { path, source, size, mtime_us: mtimeUs, offset, lines, tail_hash, state } = file;
  return {
    path,
    source,
    size,
    mtimeUs,
    offset,
    lines,
    tailHash: tail_hash === null ? null : fromWireBytes(tail_hash),
    state,
    seenAt: fromWireTime(file.seen_at),
  };
}
