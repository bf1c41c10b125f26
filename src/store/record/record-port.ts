/** Records as they cross the port: see `model/record.ts`. */

import type { RecordInfo } from "../../model/record.ts";

/** Where a record is. */
export interface RecordPlace {
  readonly namespace: string;
  readonly key: string;
}

export interface RecordWrite extends RecordPlace {
  /** The version that the writer has seen; null: there was none. Absent: whatever is there. */
  readonly expectedVersion?: string | null;
  /** Null: it is deleted. */
  readonly put: NewRecordValue | null;
}

export interface NewRecordValue {
  /** Chosen by the writer: a record that has it already was written by an earlier try of this write. */
  readonly version: string;
  /** The value's bytes; for JSON, its text as UTF-8. */
  readonly bytes: Uint8Array;
  readonly isJson: boolean;
  readonly text: string | null;
  readonly expiresAt: number | null;
}

export interface WriteRecordsRequest {
  /** All or none, in this order. No place comes twice. */
  readonly operations: readonly RecordWrite[];
  readonly now: number;
}

/** A record with its value as it is stored. */
export interface RecordRecord extends RecordInfo {
  readonly text: string | null;
  /** Null if it was not asked for; so is the text. */
  readonly bytes: Uint8Array | null;
}

/** Some records by their places, or a page of a namespace in the order of the keys' bytes. */
export interface ReadRecordsRequest {
  readonly which: readonly RecordPlace[] | RecordRange;
  /** Records that expire at this time or before are not there. 0: all rows. */
  readonly now: number;
  /** `text` comes without the values, `all` with both. */
  readonly parts: RecordParts;
  /** With places: limit of the answer's bytes of values and texts; it has at least one record. */
  readonly maxBytes?: number;
}

export type RecordParts = "info" | "text" | "all";

export interface RecordRange {
  /** Absent: of all namespaces, in the order of their names. */
  readonly namespace?: string;
  /** Keys that begin so. */
  readonly prefix: string;
  /** The last record of the page before. */
  readonly after?: RecordPlace;
  readonly limit: number;
  /** The page ends after so many bytes of values, but has at least one record. */
  readonly maxBytes: number;
}

export interface RecordWrites {
  /**
   * Puts and deletes records. `record_conflict` if one is not as its writer has seen it,
   * `record_not_found` if one that is to be deleted is not there; then nothing is written. Gives what
   * was put, and null for what was deleted.
   */
  writeRecords(
    tenant: string,
    request: WriteRecordsRequest,
  ): Promise<readonly (RecordInfo | null)[]>;
}

export interface RecordReads {
  /**
   * Places that hold nothing are left out. `store_corrupt` if a value that was asked for does not
   * match its hash. `more`: the range has records behind these, or so do places that did not fit.
   */
  readRecords(
    tenant: string,
    request: ReadRecordsRequest,
  ): Promise<{ readonly records: readonly RecordRecord[]; readonly more: boolean }>;
}
