/** Updates the fields of a remote session. */

import { fromWireSession, toWireFigures, type WireSession } from "../api/session.ts";
import type { UpdateSessionInput } from "../engine/session-input.ts";
import type { Session } from "../model/session.ts";
import type { Connection } from "./connection.ts";
import { at, known, toBody } from "./request.ts";

export async function updateSession(
  connection: Connection,
  sessionId: string,
  input: UpdateSessionInput,
): Promise<Session> {
  const { figures, ...rest } = known("update", input, "update");
  if (figures === undefined) {
    const path = at`/v1/sessions/${sessionId}`;
    const call = { method: "PATCH", path, body: toBody(rest) } as const;
    return fromWireSession(await connection.call<WireSession>(call));
  }
  // Figures of ingested files have their own route.
  const { title, metadata, ...others } = rest;
  if (Object.keys(others).length > 0) await updateSession(connection, sessionId, others);
  const updated = await connection.call<WireSession>({
    // Figures are set, not added: the call is idempotent.
    method: "PATCH",
    path: at`/v1/ingest/sessions/${sessionId}`,
    repeatable: true,
    body: toBody({ title, metadata, figures: toWireFigures(figures) }),
  });
  return fromWireSession(updated);
}
