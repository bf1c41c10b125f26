/** The origin key of an ingested session: `workstation:project:session`. This form never changes. */

import { basename } from "node:path";
import { shortHash } from "./short-hash.ts";

/** The project of the agent's working folder; sessions without one share a project. */
export function projectId(cwd: string | null): string {
  return shortHash(cwd ?? "");
}

export function compositeKey(workstation: string, project: string, session: string): string {
  return `${workstation}:${project}:${session}`;
}

/** The session's own id. The parts before it contain no colon. */
export function sessionInKey(key: string): string {
  return key.split(":").slice(2).join(":");
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** The UUID in a file's name, the last of several. */
export function uuidInName(path: string): string | undefined {
  return basename(path).match(UUID)?.at(-1);
}

/** The id of a session whose file names none: from the file's name, else a hash of its path. */
export function idFromFile(path: string): string {
  return uuidInName(path) ?? `file-${shortHash(path)}${shortHash(`${path}\n`)}`;
}
