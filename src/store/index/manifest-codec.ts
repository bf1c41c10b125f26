/**
 * Encodes the manifest as JSON, so that people can read it and fields of newer versions survive.
 */

import { EMPTY_MANIFEST, type Manifest, namedSegments } from "../../search/port.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";

export function encodeManifest(manifest: Manifest): Uint8Array {
  return Buffer.from(JSON.stringify(manifest));
}

/**
 * From a row of `index_manifest`. Columns take precedence over the JSON. A damaged manifest names
 * no segment: the index is derived, and rebuilt from the feed.
 */
export function toManifest(row: Row | undefined): Manifest {
  const body = textOrNull(row?.["body"]);
  if (row === undefined || body === null) return EMPTY_MANIFEST;
  const [version, through] = [Number(row["version"]), Number(row["through"])];
  const manifest = parseBody(body);
  if (manifest === undefined) return { ...EMPTY_MANIFEST, version };
  const { segments, dead, erased = [], vectors } = manifest;
  const base = { version, through, segments, dead, erased };
  return Array.isArray(vectors?.segments) ? { ...base, vectors } : base;
}

type Body = Omit<Manifest, "erased"> & Partial<Manifest>;

function parseBody(text: string): Body | undefined {
  try {
    const body = JSON.parse(text) as Body | null;
    return Array.isArray(body?.segments) && Array.isArray(body.dead) ? body : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The segments of `before` that `after` no longer names. */
export function droppedSegments(before: Manifest, after: Manifest): number[] {
  const kept = new Set(namedSegments(after));
  return namedSegments(before).filter((segment) => !kept.has(segment));
}
