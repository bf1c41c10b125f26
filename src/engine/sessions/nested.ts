/**
 * Sessions as a person reads a list: sub-agents below the session that started them, repeated runs of
 * a machine as one row; and lists sorted by something else than time.
 */

import type { NESTED } from "../../model/answers/store.ts";
import type { SessionOrder } from "../../model/inputs/choices.ts";
import { isPlainObject } from "../../model/json.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import type { FieldsOf } from "../../model/shape.ts";
import type { SessionFilter, SessionPosition } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";

export interface Nested extends FieldsOf<typeof NESTED> {}

/** Sub-agents of a session that are counted, and sessions that are sorted: the newest. */
const MOST = 10_000;
/** Sessions that are read for a page, of which most may be repeats. */
const MOST_OF_A_PAGE = 2_000;
/** A run of a machine makes one request, and is over after a few messages. */
const RUN_MESSAGES = 12;
/** Numbers and ids differ from run to run. */
const VARYING = /\b[0-9a-f]{6,}\b|\d+/gi;
const SAME_CHARACTERS = 80;

/** What rows with the same key are repeats of; undefined for a conversation of its own. */
function repeatKey({ agent, title, messageCount, figures, owner }: Session): string | undefined {
  if (title === "" || messageCount > RUN_MESSAGES || (figures?.exchangeCount ?? 1) > 1) {
    return undefined;
  }
  return [agent, owner, title.replace(VARYING, "#").slice(0, SAME_CHARACTERS)].join("\0");
}

interface Rows {
  readonly sessions: readonly Session[];
  /** The ids of the sessions that each row stands for, beside itself. */
  readonly repeats: ReadonlyMap<string, readonly string[]>;
  readonly next?: SessionPosition;
}

/** A page of rows: later repeats of a row on it fold into it. */
export async function listRows(
  { store, tenant }: EngineContext,
  filter: SessionFilter,
  limit: number,
  from: SessionPosition | undefined,
): Promise<Rows> {
  const sessions: Session[] = [];
  const byKey = new Map<string, Session>();
  const repeats = new Map<string, string[]>();
  const take = (session: Session) => {
    const key = repeatKey(session);
    const row = key === undefined ? undefined : byKey.get(key);
    if (row !== undefined) {
      repeats.set(row.id, [...(repeats.get(row.id) ?? []), session.id]);
      return true;
    }
    if (sessions.length === limit) return false;
    sessions.push(session);
    if (key !== undefined) byKey.set(key, session);
    return true;
  };
  let after = from;
  for (let read = 0; read < MOST_OF_A_PAGE; read += limit) {
    const at = after === undefined ? {} : { after };
    const page = await store.listSessions(tenant, filter, { limit, ...at });
    const end = page.sessions.findIndex((session) => !take(session));
    if (end === 0) break;
    // The position after a session is known for the last one of a page.
    after =
      end < 0 ? page.next : (await store.listSessions(tenant, filter, { limit: end, ...at })).next;
    if (end > 0 || after === undefined) break;
  }
  return { sessions, repeats, ...(after === undefined ? {} : { next: after }) };
}

/** Sessions whose sub-agents are read together. */
const AT_ONCE = 8;

/** What a list of a session's sub-agents shows: not what a machine made. */
const SUB_AGENTS: SessionFilter = { subAgent: 1, machineMade: false };

/** The number of sub-agents that each session started, by its id. */
export async function countSubAgents(
  engine: EngineContext,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  /** Of agents whose sub-agents' keys are not below their parent's, by the agent. */
  const bySource = new Map<string, readonly Session[]>();
  const count = async ({ id, origin: { key, source = "" } }: Session): Promise<void> => {
    if (key === undefined) return;
    const known = bySource.get(source);
    const started = known ?? (await readAll(engine, { ...SUB_AGENTS, keyPrefix: `${key}/` }));
    counts.set(id, started.filter((each) => parentKey(each) === key).length);
  };
  for (const { origin } of sessions) {
    const { source } = origin;
    if (!source?.startsWith("opencode") || bySource.has(source)) continue;
    bySource.set(source, await readAll(engine, { ...SUB_AGENTS, source }));
  }
  for (let at = 0; at < sessions.length; at += AT_ONCE) {
    await Promise.all(sessions.slice(at, at + AT_ONCE).map(count));
  }
  return counts;
}

/** The newest sessions of a filter. */
async function readAll(
  { store, tenant }: EngineContext,
  filter: SessionFilter,
): Promise<readonly Session[]> {
  const sessions: Session[] = [];
  let after: SessionPosition | undefined;
  do {
    const at = after === undefined ? {} : { after };
    const page = await store.listSessions(tenant, filter, { limit: MAX_PAGE, ...at });
    sessions.push(...page.sessions);
    after = page.next;
  } while (after !== undefined && sessions.length < MOST);
  return sessions;
}

/** All of a filter, the largest first: by messages, or by the cost that `costOf` reads. */
export async function sortSessions(
  engine: EngineContext,
  filter: SessionFilter,
  order: Exclude<SessionOrder, "time">,
  costOf: (sessions: readonly Session[]) => Promise<ReadonlyMap<string, number>>,
): Promise<readonly Session[]> {
  const sessions = await readAll(engine, filter);
  const costs = order === "cost" ? await costOf(sessions) : undefined;
  const sizeOf = ({ id, messageCount }: Session) => costs?.get(id) ?? messageCount;
  return sessions.toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

function parentKey(session: Session): string | undefined {
  const parent = session.metadata["parent"];
  if (!isSubAgent(session) || !isPlainObject(parent)) return undefined;
  return typeof parent["key"] === "string" ? parent["key"] : undefined;
}

/** With the id of the session that started each sub-agent, if that is stored. */
export async function withParents(
  { store, tenant }: EngineContext,
  sessions: readonly Session[],
): Promise<readonly Session[]> {
  const parents = new Map<string, string | null>();
  const found: Session[] = [];
  for (const session of sessions) {
    const key = session.parentSessionId === null ? parentKey(session) : undefined;
    if (key !== undefined && !parents.has(key)) {
      parents.set(key, (await store.findSessionByOrigin(tenant, key))?.id ?? null);
    }
    const parent = key === undefined ? null : (parents.get(key) ?? null);
    found.push(parent === null ? session : { ...session, parentSessionId: parent });
  }
  return found;
}
