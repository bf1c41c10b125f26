/** The bytes of ingested files, on the wire: bytes are base64. */

import type { ORIGINAL } from "../model/answers/store.ts";
import { fromBase64, toBase64 } from "../model/base64.ts";
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
