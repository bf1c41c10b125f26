/** A new session by its wire names. */

import { toWireFields } from "../api/wire.ts";
import type { CreateSessionInput } from "../engine/session-input.ts";
import type { JsonObject } from "../model/json.ts";
import { known, toTimes } from "./request.ts";

export function toWireNew(create: CreateSessionInput, what: string): JsonObject {
  const { startedAt, origin, ...rest } = known("createSession", create, what);
  const fields = {
    ...rest,
    ...toTimes({ startedAt }),
    ...(origin === undefined
      ? {}
      : { origin: toWireFields({ ...known("createSession.origin", origin, "origin") }) }),
  };
  return toWireFields(fields as JsonObject);
}
