/** The SDK's keys as keys of our sessions. */

import type { ClaudeSessionKey } from "./sdk-types.ts";

/**
 * Marks the sessions (`origin.source`), entries (`adapter`) and custom entries (`type`) of this
 * adapter.
 */
export const SOURCE = "claude-agent-sdk";

/** The prefix of the keys of a project's sessions. */
export function projectPrefix(projectKey: string): string {
  return `${SOURCE}:${encodeURIComponent(projectKey)}/`;
}

/** Key of the main transcript. The parts are encoded, so that no two keys become one. */
export function mainKey({ projectKey, sessionId }: ClaudeSessionKey): string {
  return projectPrefix(projectKey) + encodeURIComponent(sessionId);
}

/** A sub-agent's key begins with that of its session, as `isSubAgent` expects. */
export function transcriptKey(key: ClaudeSessionKey): string {
  return key.subpath === undefined ? mainKey(key) : `${mainKey(key)}/${key.subpath}`;
}

/** The session's id in the key of a main transcript; undefined in that of a sub-agent's. */
export function sessionIdOf(key: string, projectKey: string): string | undefined {
  const rest = key.slice(projectPrefix(projectKey).length);
  return rest.includes("/") ? undefined : decodeURIComponent(rest);
}
