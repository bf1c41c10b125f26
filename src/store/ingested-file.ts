/** How far a file was read: what a later reading needs to know whether it has to, and from where. */
export interface IngestedFile {
  readonly path: string;
  /** The format that it was read as. */
  readonly source: string;
  readonly size: number;
  /** In microseconds: many file systems have no finer time, and a number holds it exactly. */
  readonly mtimeUs: number;
  /** The end of the last line that was complete, and how many lines stand before it. */
  readonly offset: number;
  readonly lines: number;
  /** Hash of the last bytes before `offset`; null if the file can only be read whole. */
  readonly tailHash: Uint8Array | null;
  /** The reader's resume state, as JSON text; null if it needs the whole file. */
  readonly state: string | null;
  /** By the host's clock. */
  readonly seenAt: number;
}

/**
 * The original bytes of an ingested file, kept for later versions of its reader: their metadata.
 */
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

/** A range of the file's bytes that is compressed as one. */
export interface OriginalRange {
  readonly start: number;
  readonly size: number;
}

export interface OriginalPart extends OriginalRange {
  /** A zstd frame with a checksum. */
  readonly bytes: Uint8Array;
}

export interface OriginalUpdate extends Omit<Original, "workstation" | "parts"> {
  /** Stored parts that start here or later are replaced by `parts`. */
  readonly from: number;
  readonly parts: readonly OriginalPart[];
}

export interface OriginalQuery {
  readonly workstation?: string;
  readonly path?: string;
  readonly sessionId?: string;
  /** The last original of the page before; they are in the order of workstation and path. */
  readonly after?: { readonly workstation: string; readonly path: string };
  readonly limit: number;
}

/** The part of the store's port that changes originals. */
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

/** The part that reads them. */
export interface OriginalReads {
  /** `session_not_found` for the originals of a session that is not there. */
  listOriginals(tenant: string, query: OriginalQuery): Promise<readonly Original[]>;
  readOriginalPart(
    tenant: string,
    workstation: string,
    path: string,
    start: number,
  ): Promise<Uint8Array | undefined>;
}
