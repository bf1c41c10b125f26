/** Records at the store port: see `model/record.ts`. */

import type { RecordInfo } from "../../model/record.ts";

/** The address of a record. */
export interface RecordPlace {
  readonly namespace: string;
  readonly key: string;
}

export interface RecordWrite extends RecordPlace {
  /** The version that the writer has read; null: none existed. Absent: any. */
  readonly expectedVersion?: string | null;
  /** Null: a deletion, or a check. */
  readonly put: NewRecordValue | null;
  /** True: the record must exist, at the expected version if there is one, and stays as it is. */
  readonly isCheck?: boolean;
}

export interface NewRecordValue {
  /** Chosen by the writer: a record that has it was written by an earlier attempt of this write. */
  readonly version: string;
  /** The value's bytes; for JSON, its text as UTF-8. */
  readonly bytes: Uint8Array;
  readonly isJson: boolean;
  readonly text: string | null;
  readonly expiresAt: number | null;
}

export interface WriteRecordsRequest {
  /** Atomic, in this order. Places are distinct. */
  readonly operations: readonly RecordWrite[];
  readonly now: number;
}

/** A record with its value as it is stored. */
export interface RecordRecord extends RecordInfo {
  readonly text: string | null;
  /** Null if not requested; so is the text. */
  readonly bytes: Uint8Array | null;
}

/** Some records by place, or a page of a namespace by the bytes of the keys. */
export interface ReadRecordsRequest {
  readonly which: readonly RecordPlace[] | RecordRange;
  /** Records that expire at this time or before are absent. 0: all rows. */
  readonly now: number;
  /** `text` excludes values, `all` includes both. */
  readonly parts: RecordParts;
  /**
   * With places: the limit of the answer's bytes of values and texts; at least one record is given.
   */
  readonly maxBytes?: number;
}

export type RecordParts = "info" | "text" | "all";

export interface RecordRange {
  /** Absent: all namespaces, by name. */
  readonly namespace?: string;
  /** A key prefix. */
  readonly prefix: string;
  /** The last record of the previous page. */
  readonly after?: RecordPlace;
  readonly limit: number;
  /** The page ends after this many bytes of values, with at least one record. */
  readonly maxBytes: number;
}

export interface RecordWrites {
  /**
   * Puts, deletes and checks records atomically. Throws `record_conflict` if one is at another
   * version, `record_not_found` if a deleted or checked one does not exist. Gives the put records,
   * and null for the others. A write that only puts and checks is idempotent: it makes no check if all
   * of its puts are stored.
   */
  writeRecords(
    tenant: string,
    request: WriteRecordsRequest,
  ): Promise<readonly (RecordInfo | null)[]>;
}

export interface RecordReads {
  /**
   * Empty places are left out. Throws `store_corrupt` if a requested value does not match its hash.
   * `more`: further records follow, or did not fit.
   */
  readRecords(
    tenant: string,
    request: ReadRecordsRequest,
  ): Promise<{ readonly records: readonly RecordRecord[]; readonly more: boolean }>;
}
