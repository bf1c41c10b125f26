/** The command that opens an ingested session in its own agent again. */

import { SOURCES } from "../ingest/sources.ts";
import type { Session } from "../model/session.ts";
import { sourceFieldsOf } from "../transcript/source-fields.ts";

/** Null if the session was not ingested, or its agent has no such command. */
export function resumeCommand(session: Session): string | null {
  const { source, projectPath, key } = session.origin;
  const reader = SOURCES.find(({ name }) => name === source);
  // The key is workstation:project:session.
  const id = sourceFieldsOf(session)?.id ?? key?.split(":").slice(2).join(":");
  if (id === undefined || id === "") return null;
  return reader?.resumeCommand?.({ id, cwd: projectPath ?? null }) ?? null;
}
