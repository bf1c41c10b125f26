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
  /** Whether a compacted session is written as its summary and the rest, unless all is asked for. */
  readonly compacts: boolean;
  write(input: ExportInput, losses: LossLog): AsyncIterable<string>;
}

export interface ExportInput {
  readonly session: Session;
  /** Gives the entries from the first on; may be asked for them more than once. */
  readonly entries: () => AsyncIterable<Entry>;
  /** The end of the path that is written. */
  readonly leaf: string | null;
  /** Branches that are not among the entries. */
  readonly branchesLeftOut: number;
  /** All messages of the path, also where a summary stands for them. */
  readonly full: boolean;
}
