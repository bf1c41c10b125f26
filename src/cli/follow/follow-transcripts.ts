/** Storing what agents write on this machine, in the background of something else. */

import type { FollowInput } from "../../archive/watch/follow.ts";
import type { Context } from "../context.ts";
import { thisMachine } from "../environment.ts";

/**
 * Resolves when the signal is aborted. Of the processes of this machine that do it for one tenant of
 * one store, one works and the others wait for their turn.
 */
export async function followTranscripts(
  context: Context,
  input: Omit<FollowInput, "environment">,
): Promise<void> {
  const { address, tenant } = context;
  // Loaded only now: whoever waits for an answer meanwhile does not pay for it.
  const [follow, { open }] = await Promise.all([
    import("../../archive/watch/follow.ts"),
    import("../../open.ts"),
  ]);
  // A store of its own, on threads: much is written, and answers must not wait for it. Losses are told
  // by whoever runs this in the background.
  const onLoss = () => undefined;
  const engine = await open(address, { durability: "process", onLoss });
  try {
    await follow.followTranscripts(engine, tenant, { ...input, environment: thisMachine() });
  } finally {
    await engine.close();
  }
}
