/** Reads the int8 values of single vectors of a segment. */

import { UnreadableSegment } from "../index/blobs.ts";
import { ask, type BlobKey, type SansIo } from "../port.ts";
import { valuesBlob, valuesPerBlob } from "./vector-layout.ts";

/** Blobs per read: two megabytes. */
const BLOBS_AT_ONCE = 256;

export interface WantedValues {
  readonly segment: number;
  /** The number of the vector in its segment. */
  readonly vector: number;
}

/** Calls `take` with the values of each of `wanted`, in any order. They are valid during the call. */
export function* readValues<Wanted extends WantedValues>(
  wanted: readonly Wanted[],
  dimensions: number,
  take: (wanted: Wanted, values: Int8Array) => void,
): SansIo<void> {
  const bySegment = Map.groupBy(wanted, ({ segment }) => segment);
  const groups = [...bySegment.values()].flatMap((some) => [
    ...Map.groupBy(some, ({ vector }) => valuesBlob(vector, dimensions)).values(),
  ]);
  const perBlob = valuesPerBlob(dimensions);
  for (let at = 0; at < groups.length; at += BLOBS_AT_ONCE) {
    const some = groups.slice(at, at + BLOBS_AT_ONCE);
    const keys: BlobKey[] = some.map(([first]) => {
      const { segment, vector } = first as Wanted;
      return { segment, blob: valuesBlob(vector, dimensions) };
    });
    const answers = yield* ask<"blobs">({ need: "blobs", keys });
    for (const [i, group] of some.entries()) {
      const bytes = answers[i] ?? "missing";
      if (typeof bytes === "string") {
        throw new UnreadableSegment((keys[i] as BlobKey).segment, bytes);
      }
      for (const each of group) {
        const start = bytes.byteOffset + (each.vector % perBlob) * dimensions;
        take(each, new Int8Array(bytes.buffer, start, dimensions));
      }
    }
  }
}
