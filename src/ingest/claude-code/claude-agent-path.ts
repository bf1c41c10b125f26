/** The paths of sub-agents' files: in a folder `subagents` of their session's folder. */

export interface AgentPath {
  /** The name of the session's folder. */
  readonly session: string;
  /** The file's depth below the session's folder. */
  readonly levels: number;
}

/** Undefined for any other file, whatever its upper folders are called. */
export function agentPathOf(path: string): AgentPath | undefined {
  const [, session, below = ""] = NEAR.exec(path) ?? DEEP.exec(path) ?? [];
  return session === undefined ? undefined : { session, levels: below.split(/[/\\]/).length - 1 };
}

const NEAR = /(?:^|[/\\])([^/\\]+)[/\\]subagents([/\\][^/\\]+)$/;

/**
 * Groups of sub-agents have folders of their own; then the session must be identified by its id.
 */
const DEEP = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[/\\]subagents((?:[/\\][^/\\]+){2,3})$/i;
