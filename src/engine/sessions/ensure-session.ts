/** Get-or-create: the session of a key, created by the first caller. */

import { checkName } from "../../model/ids.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PATH_BYTES } from "../../model/limits.ts";
import type { Origin } from "../../model/session.ts";
import { checkInput } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type CreateSessionInput, toNewSession } from "../session-input.ts";

export interface EnsureSessionInput extends Omit<CreateSessionInput, "origin" | "idempotencyKey"> {
  /**
   * The caller's name of the session, unique within the tenant: any text, stored as `origin.key`.
   */
  readonly key: string;
  readonly origin?: Omit<Origin, "key">;
}

/**
 * Gives the id of the session with this key, creating it from `input` if missing. An existing
 * session is unchanged. Concurrent calls create one session.
 */
export async function ensureSession(
  engine: EngineContext,
  input: EnsureSessionInput,
): Promise<string> {
  const { store, tenant } = engine;
  const { key, origin = {}, ...rest } = checkInput(input, "session", INPUTS.ensureSession);
  checkPart(origin, "origin", INPUTS["ensureSession.origin"]);
  checkName(key, "key", MAX_PATH_BYTES);
  const create = { ...rest, origin: { ...origin, key } };
  const session = toNewSession(create, () => engine.newId(), engine.now());
  const existing = await store.findSessionByOrigin(tenant, key);
  if (existing !== undefined) return existing.id;
  const ensured = await store.createSession(tenant, { ...session, orExisting: true });
  return ensured.id;
}
