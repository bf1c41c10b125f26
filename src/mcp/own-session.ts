/**
 * Identifies the caller's own session, whose hits would only displace others: by the client's way
 * of naming the conversation of a call. Only a named session is left out; if none is named, hits of
 * the newest session are marked instead.
 *
 * Each row of a client was recorded from it (test/fixtures/mcp-clients.ts has its requests). A
 * client without variables and meta keys does not identify its conversation.
 */

import { markIncognito } from "../archive/rules/incognito.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { projectId, sessionInKey } from "../ingest/identity/identity.ts";
import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import { MAX_ID_LENGTH, MAX_PAGE } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import type { McpHost } from "./host.ts";

interface ClientNaming {
  /** The agent's name in transcripts. */
  readonly agent: string;
  /** `clientInfo.name` of its `initialize`. */
  readonly names: RegExp;
  /** Environment variables of the MCP server that hold the conversation's id. */
  readonly variables: readonly string[];
  /** Keys of `_meta` of `tools/call` that hold it. */
  readonly meta: readonly string[];
}

export const MCP_CLIENTS: readonly ClientNaming[] = [
  {
    agent: "claude-code",
    names: /^claude/i,
    variables: ["CLAUDE_CODE_SESSION_ID"],
    meta: [],
  },
  // `sessionId` is the thread that the user began, `threadId` may be that of a sub-agent.
  { agent: "codex", names: /^codex/i, variables: [], meta: ["threadId", "sessionId"] },
  {
    agent: "vscode",
    names: /^visual studio code/i,
    variables: [],
    meta: ["vscode.conversationId"],
  },
  {
    agent: "qwen-code",
    names: /^qwen/i,
    variables: ["QWEN_CODE_SESSION_ID"],
    meta: [],
  },
  {
    agent: "copilot-cli",
    names: /copilot/i,
    variables: ["COPILOT_AGENT_SESSION_ID"],
    meta: [],
  },
  { agent: "cursor", names: /^cursor/i, variables: [], meta: [] },
  { agent: "gemini-cli", names: /^gemini/i, variables: [], meta: [] },
  { agent: "opencode", names: /^opencode/i, variables: [], meta: [] },
];

interface CallOrigin {
  /** `clientInfo.name`, if the protocol sent it. */
  readonly client?: string | undefined;
  /** The server's environment, if the client started the server. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The client's ids of the conversation. A known client uses its own row only: an agent started by
 * another one inherits the other's variables.
 */
export function conversationIds({ client, variables, meta }: CallOrigin): readonly string[] {
  const own = MCP_CLIENTS.filter(({ names }) => client !== undefined && names.test(client));
  const rows = own.length > 0 ? own : MCP_CLIENTS;
  const found = rows.flatMap((row) => [
    ...row.variables.map((name) => variables?.[name]),
    ...row.meta.map((key) => meta?.[key]),
  ]);
  return [...new Set(found.filter(isId))];
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_LENGTH;
}

/** The newest sessions of the project that are searched for sub-agents. */
const MAX_NEAR = 100;

interface OwnSessions {
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
 * all, if something was said in it since the caller's server started.
 */
export async function findNewestSession(host: McpHost): Promise<string | undefined> {
  const { tenant, cwd, startedAt = 0 } = host;
  const project = cwd === undefined ? {} : { projectId: projectId(cwd) };
  const { sessions } = await tenant.listSessions({ ...project, limit: 1 });
  const [newest] = sessions;
  if (newest === undefined) return undefined;
  // A prompt on a command line is older than the server that its answer calls.
  const saidAt = Math.max(newest.lastInteractionAt, newest.figures?.lastMessageAt ?? 0);
  return saidAt >= startedAt ? newest.id : undefined;
}

/** Said after a session that may be the caller's own. */
export const MAYBE_OWN = "the newest session here: maybe the one you speak in";

export const OWN_LEFT_OUT = "Your own session is left out.";

interface OtherSessions {
  readonly isOther: (session: Session) => boolean;
  readonly isMaybeOwn: (session: Session) => boolean;
  /** Sessions that `isOther` leaves out of a list, at most. */
  readonly count: number;
}

/** For lists: all sessions but the caller's own. */
export async function findOthers(host: McpHost): Promise<OtherSessions> {
  const { ids, isNamed } = await findOwnSessions(host);
  const newest = isNamed ? undefined : await findNewestSession(host);
  return {
    isOther: ({ id }) => !ids.includes(id),
    isMaybeOwn: ({ id }) => id === newest,
    count: ids.length,
  };
}

/**
 * Makes sessions incognito: marks them, so that no process stores more of them, and deletes what is
 * stored, with their sub-agents, forks and memories. `refs` are our ids or the agent's; a session
 * need not be stored yet. Gives the number of deleted sessions.
 */
export async function keepNothing(tenant: TenantApi, refs: readonly string[]): Promise<number> {
  const own = await Promise.all(
    refs.map(async (ref) => {
      const found = await findNamed(tenant, ref);
      return found.length === 0 ? [ref] : found.map(agentsId);
    }),
  );
  const ids = [...new Set(own.flat())];
  await markIncognito(tenant, ids);
  // After the mark: another process may have stored more until then, and deletes what it stores now.
  const found = (await Promise.all(ids.map((id) => findNamed(tenant, id)))).flat();
  const below = await Promise.all(found.map((session) => findWorkers(tenant, session)));
  let deleted = 0;
  for (const id of new Set([...below.flat(), ...found.map((session) => session.id)])) {
    try {
      await tenant.deleteSession(id, { cascade: true });
      deleted++;
    } catch (error) {
      // A fork or a sub-agent that is gone already.
      if (!BackscrollError.is(error, "session_not_found")) throw error;
    }
  }
  return deleted;
}

/** The id that the agent gave the session; ours if it was not ingested. */
function agentsId({ id, origin }: Session): string {
  return (origin.key == null ? "" : sessionInKey(origin.key)) || id;
}

/** Sessions that were begun for this one, or as a copy of it. */
async function findWorkers(tenant: TenantApi, session: Session): Promise<string[]> {
  const own = agentsId(session);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const since = { since: session.createdAt, machineMade: true, limit: MAX_PAGE };
    const page = await tenant.listSessions(cursor === undefined ? since : { ...since, cursor });
    for (const each of page.sessions) {
      const { parent } = each.metadata;
      const isOf = isPlainObject(parent) && parent["id"] === own;
      if (isOf || agentsId(each).startsWith(`${own}/`)) found.push(each.id);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
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
