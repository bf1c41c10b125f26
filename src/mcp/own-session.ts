/**
 * Identifies the caller's own session, whose hits would only displace others. Only a named session
 * is left out; if none is named, hits of the newest session are marked instead.
 */

import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { projectId } from "../ingest/identity/session-key.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Session } from "../model/session.ts";
import type { McpHost } from "./host.ts";

/** The newest sessions of the project that are searched for sub-agents. */
const MAX_NEAR = 100;

export interface OwnSessions {
  /** The stored ones; only they can be left out. */
  readonly ids: readonly string[];
  /** Whether a session was named, stored or not; then no other one is the caller's. */
  readonly isNamed: boolean;
}

/** The sessions named by the caller, the host and the client, and their sub-agents. */
export async function findOwnSessions(host: McpHost, named?: string): Promise<OwnSessions> {
  const { tenant } = host;
  const refs = [...new Set([named, ...(host.sessions ?? [])])].filter((ref) => ref !== undefined);
  const found = (await Promise.all(refs.map((ref) => findNamed(tenant, ref)))).flat();
  const below = await Promise.all(found.map((session) => findSubAgents(tenant, session)));
  const ids = [...new Set([...found.map(({ id }) => id), ...below.flat()])];
  return { ids, isNamed: refs.length > 0 };
}

/** Their keys are the session's key, a slash and a name. */
async function findSubAgents(tenant: TenantApi, session: Session): Promise<readonly string[]> {
  const { key, projectId: project } = session.origin;
  if (key === undefined || key === null || project === undefined || project === null) return [];
  const near = { projectId: project, since: session.createdAt, machineMade: true, limit: MAX_NEAR };
  const { sessions } = await tenant.listSessions(near);
  return sessions.filter(({ origin }) => origin.key?.startsWith(`${key}/`)).map(({ id }) => id);
}

/**
 * The session that may be the caller's if none is named: the newest of the caller's folder, or of
 * all.
 */
export async function findNewestSession(host: McpHost): Promise<string | undefined> {
  const { tenant, cwd } = host;
  const project = cwd === undefined ? {} : { projectId: projectId(cwd) };
  const { sessions } = await tenant.listSessions({ ...project, limit: 1 });
  return sessions[0]?.id;
}

/** Two machines may store the same id, such as copies of one transcript. */
async function findNamed(tenant: TenantApi, ref: string): Promise<readonly Session[]> {
  try {
    return [await tenant.getSessionMeta(ref)];
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return [];
    if (!BackscrollError.is(error, "session_ambiguous")) throw error;
    const ids = String(error.details["candidates"] ?? "").split(" ");
    return Promise.all(ids.filter((id) => id !== "").map((id) => tenant.getSessionMeta(id)));
  }
}
