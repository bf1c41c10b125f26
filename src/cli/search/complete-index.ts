/** Builds the index of a local store when its unindexed tail is longer than a search reads. */

import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { BackscrollError } from "../../model/errors.ts";
import { type Context, isServer } from "../context.ts";
import { maintainTenants } from "../maintain-tenants.ts";
import { counted } from "../print.ts";
import { withOwnEngine } from "../store.ts";

/** With fewer unindexed changes, the index is stale because its segments have an older analysis. */
const MANY_CHANGES = 256;

/** When to say why the search takes longer; on a terminal the progress line does. */
const NOTE_MS = 1_000;

/** False if nothing was built: a server does so itself, and the store may be read-only. */
export async function completeIndex(context: Context, tenant: TenantApi): Promise<boolean> {
  if (isServer(context.address)) return false;
  const { lag } = await tenant.indexStatus();
  if (lag < MANY_CHANGES) return false;
  const note = setTimeout(() => {
    if (!process.stderr.isTTY) {
      context.terminal.note(`Building the index first: ${counted(lag, "change")} to be added.`);
    }
  }, NOTE_MS);
  try {
    await withOwnEngine(context, (engine) =>
      maintainTenants(engine, [tenant.tenant], "flush", "Building the index"),
    );
    return true;
  } catch (error) {
    // Show the hits of the indexed part.
    if (!BackscrollError.is(error)) throw error;
    context.terminal.note(`The index cannot be built: ${error.message}`);
    return false;
  } finally {
    clearTimeout(note);
  }
}
