/** The checkpoint of an ingested file: whether to read it again, and from where. */
export interface IngestedFile {
  readonly path: string;
  /** The format that it was read as. */
  readonly source: string;
  readonly size: number;
  /** In microseconds, which a number holds exactly; nanoseconds would exceed 2^53. */
  readonly mtimeUs: number;
  /** The end of the last complete line, and the number of lines before it. */
  readonly offset: number;
  readonly lines: number;
  /** Hash of bytes before `offset`; null if the file can only be read whole. */
  readonly tailHash: Uint8Array | null;
  /** The reader's resume state, as JSON text; null if it needs the whole file. */
  readonly state: string | null;
  /** By the host's clock. */
  readonly seenAt: number;
}

/** Metadata of an ingested file's original bytes, kept for later versions of its reader. */
export interface Original {
  readonly workstation: string;
  readonly path: string;
  /** The format that the file was read as. */
  readonly source: string;
  /** The version of the reader that derived the sessions. */
  readonly reader: number;
  /** Bytes of the file. */
  readonly size: number;
  readonly mtimeUs: number;
  /** In order of `start`, without a gap. */
  readonly parts: readonly OriginalRange[];
  /** The sessions that were derived from the file. */
  readonly sessionIds: readonly string[];
}

/** A range of the file's bytes, compressed as one. */
export interface OriginalRange {
  readonly start: number;
  readonly size: number;
}

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
