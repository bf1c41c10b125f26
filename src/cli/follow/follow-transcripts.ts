/** Stores agents' transcripts in the background of another task. */

import type { FollowInput } from "../../archive/watch.ts";
import { thisMachine } from "../../ingest/identity/identity.ts";
import type { Context } from "../context.ts";

/**
 * Resolves when the signal is aborted. Of the processes of this machine that do so for one tenant
 * of one store, a lease elects one.
 */
export async function followTranscripts(
  context: Context,
  input: Omit<FollowInput, "environment">,
): Promise<void> {
  const { address, tenant } = context;
  // Loaded on demand, so that pending calls do not wait for it.
  const [follow, { open }] = await Promise.all([
    import("../../archive/watch.ts"),
    import("../../open.ts"),
  ]);
  // A separate store handle with threads: heavy writes must not delay answers. The foreground
  // reports losses.
  const onLoss = () => undefined;
  const engine = await open(address, { durability: "process", onLoss });
  try {
    await follow.followTranscripts(engine, tenant, { ...input, environment: thisMachine() });
  } finally {
    await engine.close();
  }
}
