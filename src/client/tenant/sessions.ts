/** Creates and lists sessions of a remote tenant. */

import { fromWireSessionPage, type WireSession, type WireSessionPage } from "../../api/session.ts";
import { toWireFields } from "../../api/wire.ts";
import type { CreateSessionInput } from "../../engine/session-input.ts";
import type { EnsureSessionInput } from "../../engine/sessions/ensure-session.ts";
import type { ListSessionsInput, SessionListPage } from "../../engine/sessions/list-sessions.ts";
import { type JsonObject, stringifyJson } from "../../model/json.ts";
import type { Connection } from "../connection.ts";
import { toWireNew } from "../new-session.ts";
import { keyHeader, known, toBody, toQuery, toTimes } from "../request.ts";

/** Gives the id of the new session. */
export async function createSession(
  connection: Connection,
  input: CreateSessionInput,
): Promise<string> {
  const { idempotency_key: _, ...session } = toWireNew(input, "session");
  const { id } = await connection.call<WireSession>({
    method: "POST",
    path: "/v1/sessions",
    headers: keyHeader(input.idempotencyKey),
    body: toBody(session),
  });
  return id;
}

/** Gives the id of the session with the key. Idempotent. */
export async function ensureSession(
  connection: Connection,
  input: EnsureSessionInput,
): Promise<string> {
  const { key, origin, ...create } = known("ensureSession", input, "session");
  const own = origin === undefined ? undefined : known("ensureSession.origin", origin, "origin");
  const { id } = await connection.call<WireSession>({
    method: "PUT",
    path: "/v1/origins",
    repeatable: true,
    body: toBody({
      ...toWireNew(create, "session"),
      key,
      origin: own === undefined ? undefined : toWireFields(own as JsonObject),
    }),
  });
  return id;
}

export async function listSessions(
  connection: Connection,
  input: ListSessionsInput,
): Promise<SessionListPage> {
  const { since, until, metadata, ...rest } = known("listSessions", input);
  const wanted = metadata === undefined ? undefined : stringifyJson(metadata, "metadata");
  const page = await connection.call<WireSessionPage>({
    method: "GET",
    path: "/v1/sessions",
    query: toQuery({ ...rest, metadata: wanted, ...toTimes({ since, until }) }),
  });
  return fromWireSessionPage(page);
}
