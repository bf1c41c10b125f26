/**
 * Imports the routes of a gateway along with its transcripts: its list maps keys to current
 * sessions.
 *
 * A key that leads to a session of another origin is in use here and stays as it is.
 */

import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import type { ImportedSession } from "../ingest/source.ts";
import { BackscrollError } from "../model/errors.ts";

export async function leadRoute(
  tenant: TenantApi,
  { route, source, problems }: ImportedSession,
  sessionId: string,
): Promise<void> {
  if (route === undefined) return;
  const { key, fields } = route;
  try {
    const known = await tenant.routes.find(key);
    if (known?.sessionId === sessionId) return;
    if (known !== undefined && !(await isOf(tenant, known.sessionId, source))) return;
    await tenant.routes.put(key, { sessionId, fields, reason: "ingest" });
  } catch (error) {
    // An invalid key or field drops the route, not the transcript.
    if (!BackscrollError.is(error, "invalid_input") && !BackscrollError.is(error, "too_large")) {
      throw error;
    }
    problems.add("unexpected", `the route of the session was left out: ${error.message}`);
  }
}

async function isOf(tenant: TenantApi, sessionId: string, source: string): Promise<boolean> {
  try {
    return (await tenant.getSessionMeta(sessionId)).origin.source === source;
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return true;
    throw error;
  }
}
