/** Runs an index maintenance task for one tenant after another, with progress. */

import { toWire, type WireOf } from "../api/shape.ts";
import type { EngineApi } from "../engine/interfaces.ts";
import type { IndexTask } from "../engine/maintain-index.ts";
import { INDEX_SUMMARY } from "../model/answers/store.ts";
import { formatCount } from "./print.ts";
import { Progress } from "./terminal.ts";

const TICK_MS = 250;

export interface MaintainedTenant extends WireOf<typeof INDEX_SUMMARY> {
  readonly tenant: string;
}

export async function maintainTenants(
  engine: EngineApi,
  tenants: readonly string[],
  task: IndexTask,
  doing: string,
): Promise<MaintainedTenant[]> {
  const progress = new Progress();
  const done: MaintainedTenant[] = [];
  try {
    for (const tenant of tenants) {
      const own = engine.forTenant(tenant);
      const before = await own.indexStatus();
      const expected = formatCount(before.documents + before.lag);
      const started = Date.now();
      let written = 0;
      // One step may take minutes: the seconds show that it is running.
      const ticker = setInterval(() => {
        const seconds = Math.round((Date.now() - started) / 1_000);
        const counts = `${formatCount(written)} of ${expected} documents`;
        progress.show(() => `${doing} of ${tenant}: ${counts}, ${seconds} s`);
      }, TICK_MS);
      try {
        const after = await own.maintainIndex(task, {
          onProgress: ({ documents }) => {
            written = documents;
          },
        });
        done.push({ tenant, ...toWire(INDEX_SUMMARY, after) });
      } finally {
        clearInterval(ticker);
      }
    }
  } finally {
    progress.end();
  }
  return done;
}
