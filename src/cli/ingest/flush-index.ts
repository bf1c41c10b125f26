/** Flushes the index after an ingest, so that searches do not read the same tail each time. */

import type { TenantApi } from "../../engine/interfaces.ts";
import { BackscrollError } from "../../model/errors.ts";
import { type Context, isServer } from "../context.ts";

/** A shorter tail is searched in a few milliseconds. */
const WORTH_A_SEGMENT = 64;

/**
 * More segments than one load leaves: many small runs wrote them, so they are merged. Segments of
 * a load are not merged here, which may take longer than the load.
 */
const TOO_MANY_SEGMENTS = 96;

export async function flushIndex(
  tenant: Pick<TenantApi, "indexStatus" | "maintainIndex">,
): Promise<void> {
  const { lag } = await tenant.indexStatus();
  if (lag < WORTH_A_SEGMENT) return;
  const { segments } = await tenant.maintainIndex("flush");
  if (segments > TOO_MANY_SEGMENTS) await tenant.maintainIndex("maintain");
}

/** The same at the end of a command. All is stored by then: a failure only makes searches slower. */
export async function flushAfterIngest(context: Context, tenant: TenantApi): Promise<void> {
  // A server keeps its index itself.
  if (isServer(context.address)) return;
  try {
    await flushIndex(tenant);
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    context.terminal.note(`All is stored, but not yet in the index: ${error.message}`);
  }
}
