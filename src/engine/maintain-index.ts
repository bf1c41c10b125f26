/** The index's upkeep on demand: the store does it in pieces, here all of them are done. */

import { BackscrollError } from "../model/errors.ts";
import type { MaintenanceTask } from "../search/port.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import { checkOneOf } from "./check.ts";
import type { Scope } from "./scope.ts";

export interface MaintainOptions {
  /** Called after each piece, with the documents that were written so far. */
  readonly onProgress?: (progress: { readonly documents: number }) => void;
}

const TASKS: readonly MaintenanceTask[] = ["flush", "merge", "upkeep", "rebuild", "purge"];

/** How long to wait for another process that is at it. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

export async function maintainIndex(
  scope: Scope,
  task: MaintenanceTask,
  { onProgress }: MaintainOptions,
): Promise<IndexStatus> {
  checkOneOf(task, TASKS, "task");
  let documents = 0;
  let busySince: number | undefined;
  for (;;) {
    const report = await scope.store.maintain(scope.tenant, task);
    documents += report.documents;
    onProgress?.({ documents });
    if (report.busy) {
      busySince ??= Date.now();
      if (Date.now() - busySince > PATIENCE_MS) throw heldElsewhere();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } else {
      busySince = undefined;
      if (!report.more) return scope.store.indexStatus(scope.tenant);
    }
  }
}

function heldElsewhere(): BackscrollError {
  return new BackscrollError(
    "store_busy",
    "another process has been looking after the index for a minute; try again later",
    { details: { retryAfterMs: 10_000 } },
  );
}
