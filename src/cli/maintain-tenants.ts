/** A task of the index's upkeep, done for one tenant after another, with a line that counts. */

import { toWireIndexStatus, type WireIndexStatus } from "../api/status.ts";
import type { Engine } from "../engine/engine.ts";
import type { IndexTask } from "../engine/maintain-index.ts";
import { formatCount } from "./print.ts";
import { Progress } from "./progress.ts";

export interface MaintainedTenant extends WireIndexStatus {
  readonly tenant: string;
}

export async function maintainTenants(
  engine: Engine,
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
      const show = (documents: number) =>
        progress.show(() => `${doing} of ${tenant}: ${formatCount(documents)} of ${expected}`);
      show(0);
      const after = await own.maintainIndex(task, {
        onProgress: ({ documents }) => show(documents),
      });
      done.push({ tenant, ...toWireIndexStatus(after) });
    }
  } finally {
    progress.end();
  }
  return done;
}
