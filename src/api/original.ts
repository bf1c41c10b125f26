/** The bytes of ingested files, on the wire: bytes are base64. */

import type { Original, OriginalUpdate } from "../store/ingested-file.ts";

export interface WireOriginal {
  readonly workstation: string;
  readonly path: string;
  readonly source: string;
  readonly reader: number;
  readonly size: number;
  readonly mtime_us: number;
  readonly parts: readonly { readonly start: number; readonly size: number }[];
  readonly session_ids: readonly string[];
}

export interface WireOriginalUpdate extends Omit<WireOriginal, "parts"> {
  readonly from: number;
  readonly parts: readonly {
    readonly start: number;
    readonly size: number;
    readonly bytes: string;
  }[];
}

export function toWireOriginal(original: Original): WireOriginal {
  const { workstation, path, source, reader, size, mtimeUs, parts, sessionIds } = original;
  return {
    workstation,
    path,
    source,
    reader,
    size,
    mtime_us: mtimeUs,
    parts,
    session_ids: sessionIds,
  };
}

export function fromWireOriginal(original: WireOriginal): Original {
  const { mtime_us: mtimeUs, session_ids: sessionIds, ...same } = original;
  return { ...same, mtimeUs, sessionIds };
}

export function toWireOriginalUpdate(
  workstation: string,
  { mtimeUs, sessionIds, parts, ...same }: OriginalUpdate,
): WireOriginalUpdate {
  return {
    workstation,
    ...same,
    mtime_us: mtimeUs,
    session_ids: sessionIds,
    parts: parts.map(({ start, size, bytes }) => ({ start, size, bytes: toBase64(bytes) })),
  };
}

export function fromWireOriginalUpdate(update: WireOriginalUpdate): OriginalUpdate {
  const { workstation: _, mtime_us: mtimeUs, session_ids: sessionIds, parts, ...same } = update;
  return {
    ...same,
    mtimeUs,
    sessionIds,
    parts: parts.map(({ start, size, bytes }) => ({ start, size, bytes: fromBase64(bytes) })),
  };
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

export function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
