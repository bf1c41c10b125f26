/** The manifest as bytes: JSON, so that a person can read it, and fields of a newer version survive. */

import { EMPTY_MANIFEST, type Manifest } from "../../search/port.ts";
import type { Row } from "../records.ts";
import { textOrNull } from "../rows/text.ts";

export function encodeManifest(manifest: Manifest): Uint8Array {
  return Buffer.from(JSON.stringify(manifest));
}

/** From a row of `index_manifest`. The columns are the truth for what they hold. */
export function toManifest(row: Row | undefined): Manifest {
  const body = textOrNull(row?.["body"]);
  if (row === undefined || body === null) return EMPTY_MANIFEST;
  const manifest = JSON.parse(body) as Omit<Manifest, "erased"> & Partial<Manifest>;
  const { segments, dead, erased = [] } = manifest;
  const [version, through] = [Number(row["version"]), Number(row["through"])];
  return { version, through, segments, dead, erased };
}

/** The segments of `before` that `after` does not name any more. */
export function droppedSegments(before: Manifest, after: Manifest): number[] {
  const kept = new Set(after.segments.map(({ segment }) => segment));
  return before.segments.map(({ segment }) => segment).filter((segment) => !kept.has(segment));
}
