/** Forks a session: copies a path under a new id. */

import { INPUTS } from "../model/inputs/index.ts";
import { HOUR_CACHE_KEY, provenanceOf, type Session, settableOf } from "../model/session.ts";
import { sessionNotFound } from "../store/store-errors.ts";
import { checkInput } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";
import { idempotency } from "./idempotency.ts";
import { type CreateSessionInput, toNewSession } from "./session-input.ts";

export interface ForkInput extends Omit<CreateSessionInput, "agent" | "origin"> {
  /** Default: the original's agent. */
  readonly agent?: string;
  /** The last entry to copy. Default: the active leaf. */
  readonly through?: string;
}

export async function forkSession(
  engine: EngineContext,
  sessionId: string,
  input: ForkInput,
): Promise<Session> {
  const { store, tenant } = engine;
  checkInput(input, "fork", INPUTS.fork);
  const original = await store.findSession(tenant, sessionId);
  if (original === undefined) throw sessionNotFound(sessionId);
  const { through, idempotencyKey, ...rest } = input;
  const { owner: _, ...copied } = settableOf(original);
  // Copies are not counted again.
  const { [HOUR_CACHE_KEY]: __, ...metadata } = copied.metadata;
  const session = toNewSession(
    { ...copied, metadata, agent: original.agent, ...rest },
    () => engine.newId(),
    engine.now(),
    input.metadata ?? {},
  );
  const provenance = provenanceOf(original);
  return store.forkSession(tenant, {
    sessionId,
    // Hash the request, not the original's current title.
    session: {
      ...session,
      // A copy of foreign words is not the person's own.
      ...(provenance === "own" ? {} : { origin: { provenance } }),
      ...idempotency(idempotencyKey, () => ["fork", sessionId, through ?? null, rest]),
    },
    ...(through === undefined ? {} : { through }),
  });
}
