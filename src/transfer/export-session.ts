/** One session for an export format: its entries, page by page. */

import { maskEntry, maskSession } from "../api/mask.ts";
import type { SessionApi } from "../engine/interfaces.ts";
import type { ExportFormat, ExportInput } from "../export/format.ts";
import type { Entry } from "../model/entry.ts";
import { requireAllowed } from "../policy.ts";

export interface ExportSelection {
  /** The path to this entry, instead of the active one or the whole tree. */
  readonly leaf?: string;
  readonly full?: boolean;
  /** Leaves secrets unmasked. */
  readonly raw?: boolean;
}

/** Entries per page: few, because each may be large. */
const ENTRY_PAGE = 50;

export async function toExportInput(
  handle: SessionApi,
  format: ExportFormat,
  selection: ExportSelection = {},
): Promise<ExportInput> {
  const { leaf, full = false, raw = false } = selection;
  if (raw) requireAllowed("rawExports");
  if (leaf !== undefined) await handle.getEntry(leaf);
  const session = await handle.meta();
  const wholeTree = format.selects === "tree" && leaf === undefined;
  const branches = wholeTree ? 0 : (await handle.branches()).length;
  async function* entries(): AsyncGenerator<Entry> {
    let after: string | undefined;
    do {
      const page = await handle.listEntries({
        ...(wholeTree ? { tree: true } : leaf === undefined ? {} : { leaf }),
        ...(after === undefined ? {} : { after }),
        limit: ENTRY_PAGE,
      });
      for (const entry of page.entries) yield raw ? entry : maskEntry(entry);
      after = page.next;
    } while (after !== undefined);
  }
  return {
    session: raw ? session : maskSession(session),
    entries,
    full,
    leaf: leaf ?? session.leaf,
    branchesLeftOut: Math.max(0, branches - 1),
  };
}
