import type { INGESTED_FILE, ORIGINAL, ORIGINAL_RANGE } from "../model/answers/store.ts";
import type { FieldsOf } from "../model/shape.ts";

/** The checkpoint of an ingested file: whether to read it again, and from where. */
export interface IngestedFile extends FieldsOf<typeof INGESTED_FILE> {}

/** Metadata of an ingested file's original bytes, kept for later versions of its reader. */
export interface Original extends FieldsOf<typeof ORIGINAL> {}

/** A range of the file's bytes, compressed as one. */
export interface OriginalRange extends FieldsOf<typeof ORIGINAL_RANGE> {}

export interface OriginalPart extends OriginalRange {
  /** A zstd frame with a checksum. */
  readonly bytes: Uint8Array;
}

export interface OriginalUpdate extends Omit<Original, "workstation" | "parts"> {
  /** Stored parts from this offset on are replaced by `parts`. */
  readonly from: number;
  readonly parts: readonly OriginalPart[];
}

export interface OriginalQuery {
  readonly workstation?: string;
  readonly path?: string;
  readonly sessionId?: string;
  /** The last original of the previous page; ordered by workstation and path. */
  readonly after?: { readonly workstation: string; readonly path: string };
  readonly limit: number;
}

/** The originals' part of the write port. */
export interface OriginalWrites {
  /**
   * Stores original bytes. False without storing if a session of the file has a retention that
   * erases content. Throws `session_not_found`.
   */
  putOriginal(
    tenant: string,
    workstation: string,
    update: OriginalUpdate,
    now: number,
  ): Promise<boolean>;
}

/** The originals' part of the read port. */
export interface OriginalReads {
  /** Throws `session_not_found` for an unknown session. */
  listOriginals(tenant: string, query: OriginalQuery): Promise<readonly Original[]>;
  readOriginalPart(
    tenant: string,
    workstation: string,
    path: string,
    start: number,
  ): Promise<Uint8Array | undefined>;
}
