/**
 * Which sessions are the caller's own. What was said there is known there, and finding it again only
 * pushes out what is not.
 */

import { projectId } from "../ingest/identity/session-key.ts";
import type { McpHost } from "./host.ts";

/** A session of the caller's folder that was written within this time is the one it speaks in. */
const WRITTEN_WITHIN_MS = 60_000;
/** Sessions of the folder that are looked at: those that people spoke in last. */
const LOOKED_AT = 50;

/** What the caller says, what the host knows, and what is being written in the caller's folder. */
export async function findOwnSessions(host: McpHost, named?: string): Promise<readonly string[]> {
  const { tenant, session, cwd } = host;
  const known = [named, session].filter((id) => id !== undefined);
  if (cwd === undefined) return known;
  const since = Date.now() - WRITTEN_WITHIN_MS;
  const { sessions } = await tenant.listSessions({ projectId: projectId(cwd), limit: LOOKED_AT });
  const written = sessions.filter(
    ({ origin, updatedAt }) => origin.projectPath === cwd && updatedAt >= since,
  );
  return [...new Set([...known, ...written.map(({ id }) => id)])];
}
