/**
 * The port of an export format: entries in, pieces of text out.
 *
 * Foreign formats cannot hold all of a session. Losses are counted by name while writing, and the
 * export reports them.
 */

import type { Entry } from "../model/entry.ts";
import type { Session } from "../model/session.ts";
import type { LossLog } from "./losses.ts";

export interface ExportFormat {
  readonly name: string;
  /** Every branch in the order of writing, or the path to a leaf. */
  readonly selects: "tree" | "path";
  /**
   * Whether a compacted session is written as its summary and the rest, unless everything is
   * requested.
   */
  readonly compacts: boolean;
  write(input: ExportInput, losses: LossLog): AsyncIterable<string>;
}

export interface ExportInput {
  readonly session: Session;
  /** Iterates from the first entry; restartable. */
  readonly entries: () => AsyncIterable<Entry>;
  /** The end of the written path. */
  readonly leaf: string | null;
  /** The number of omitted branches. */
  readonly branchesLeftOut: number;
  /** All messages of the path, including covered ones. */
  readonly full: boolean;
}
