/** The bytes of ingested files, on the wire: bytes are base64. */

import type { ORIGINAL } from "../model/answers/store.ts";
import type { OriginalUpdate } from "../store/ingested-file.ts";
import type { WireOf } from "./shape.ts";

export interface WireOriginalUpdate extends Omit<WireOf<typeof ORIGINAL>, "parts"> {
  readonly from: number;
  readonly parts: readonly {
    readonly start: number;
    readonly size: number;
    readonly bytes: string;
  }[];
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

/** Bytes per call: the number of arguments is limited. */
const CHUNK_BYTES = 32_768;

/** Browsers have no Buffer, and Node 22 no `Uint8Array.toBase64`. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES)));
  }
  return btoa(parts.join(""));
}

export function fromBase64(text: string): Uint8Array {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  return bytes;
}
