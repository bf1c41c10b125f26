/** Whether a session is stored: by the person's rules and the marks of incognito sessions. */

import type { ImportedSession } from "../../ingest/source.ts";
import type { IngestSetting } from "../ingest-setting.ts";
import { INCOGNITO, isIncognito } from "./incognito.ts";

/** What decides about a session, without its content. */
export interface IgnorableSession
  extends Pick<ImportedSession, "source" | "agent" | "cwd" | "repo"> {
  /** The session's own id. */
  readonly id: string;
  readonly parent: string | null;
}

export function toIgnorable(
  { source, agent, cwd, repo, parentSession }: ImportedSession,
  id: string,
): IgnorableSession {
  return { source, agent, id, cwd, parent: parentSession, ...(repo === undefined ? {} : { repo }) };
}

/** The name of the rule that keeps the session out; undefined: it is stored. */
export async function findIgnoringRule(
  { rules, tenant }: IngestSetting,
  session: IgnorableSession,
): Promise<string | undefined> {
  const rule = await rules.find(session);
  if (rule !== undefined) return rule;
  return (await isIncognito(tenant, session.id, session.parent)) ? INCOGNITO : undefined;
}
