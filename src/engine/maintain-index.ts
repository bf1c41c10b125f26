/** Index maintenance on demand: runs the store's incremental steps to the end. */

import { pause } from "../async/pause.ts";
import { BackscrollError } from "../model/errors.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { MaintenanceTask } from "../search/port.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import { checkInput, checkOneOf } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";

export interface MaintainOptions {
  /** Called after each step, with the documents written so far. */
  readonly onProgress?: (progress: { readonly documents: number }) => void;
}

/**
 * `flush` moves the tail into a segment, `merge` merges all segments, `maintain` does both as far as
 * due. `rebuild` builds every segment again from the messages, `purge` rewrites segments that may
 * hold deleted text.
 */
export type IndexTask = (typeof INDEX_TASKS)[number];

export const INDEX_TASKS = ["flush", "merge", "maintain", "rebuild", "purge"] as const;

/** How long to wait for a process that is maintaining the index. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

export async function maintainIndex(
  engine: EngineContext,
  task: IndexTask,
  options: MaintainOptions,
): Promise<IndexStatus> {
  const { onProgress } = checkInput(options, "options", INPUTS.maintainIndex);
  checkOneOf(task, INDEX_TASKS, "task");
  const { store, tenant } = engine;
  let documents = 0;
  const run = async (piece: MaintenanceTask, through = Number.POSITIVE_INFINITY) => {
    let busySince: number | undefined;
    for (let more = true; more; ) {
      const report = await store.maintain(tenant, piece);
      documents += report.documents;
      onProgress?.({ documents });
      more = report.more && report.through < through;
      if (report.busy) {
        busySince ??= Date.now();
        if (Date.now() - busySince > PATIENCE_MS) throw heldElsewhere();
        await pause(PAUSE_MS);
      } else {
        busySince = undefined;
      }
    }
  };
  // Up to the current end, so that it terminates beside writers.
  const { version, head } = await store.indexStatus(tenant);
  if (task !== "merge" && task !== "maintain") await run("flush", head);
  if (task === "rebuild") await run({ rebuildThrough: version });
  else if (task !== "flush") await run(task);
  return store.indexStatus(tenant);
}

function heldElsewhere(): BackscrollError {
  return new BackscrollError(
    "store_busy",
    "another process has been maintaining the index for a minute; try again later",
    { details: { retryAfterMs: 10_000 } },
  );
}
