/**
 * Finds the sessions that touched a file, ran a command or met an error, and the error's fix.
 *
 * Search finds candidate sessions; their tool calls are read to confirm, since a mention is not a
 * change.
 */

import { isMachineMade } from "../api/session.ts";
import { checkHits, checkPeriod, type Period } from "../engine/check.ts";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import type { SearchInput } from "../engine/search.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_HITS } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import { foundSession } from "./found-session.ts";
import { readActs } from "./read-acts.ts";
import { type Subject, searchText } from "./subject.ts";
import { type Finding, findIn } from "./trace-session.ts";

export interface TraceInput
  extends Pick<
    SearchInput,
    "agent" | "owner" | "project" | "repo" | "workstation" | "excludeSession"
  > {
  /** Exactly one of the three. A path, or its end. */
  readonly file?: string;
  /** A command, or part of it. */
  readonly command?: string;
  /** An error's text, or part of it. */
  readonly error?: string;
  readonly since?: number | Date;
  readonly until?: number | Date;
  /** The limit of sessions, newest first: at most 20. Default 5. */
  readonly limit?: number;
}

export interface TracedSession {
  readonly session: Session;
  readonly finding: Finding;
}

export interface Trace {
  readonly subject: Subject;
  /** The newest first. */
  readonly sessions: readonly TracedSession[];
  /** Found but unread sessions: there may be more. */
  readonly unread: number;
}

export const DEFAULT_TRACED_SESSIONS = 5;
/** The newest sessions are searched separately, because search ranks by relevance. */
const RECENT_MS: number = 30 * 24 * 60 * 60 * 1_000;
/** The limit of messages read for one trace. */
const MAX_MESSAGES = 20_000;

export async function traceWork(
  tenant: TenantApi,
  input: TraceInput,
  now: number = Date.now(),
): Promise<Trace> {
  const {
    file,
    command,
    error,
    limit: given,
    ...filter
  } = checkFields(input, "options", INPUTS.traceWork);
  const limit = checkHits(given, "limit", DEFAULT_TRACED_SESSIONS);
  const subject = toSubject(file, command, error);
  const period = checkPeriod(filter);
  const found = await findSessions(tenant, subject, filter, period, now);
  const sessions: TracedSession[] = [];
  let [read, messages] = [0, 0];
  for (const session of found) {
    if (sessions.length >= limit || messages > MAX_MESSAGES) break;
    read++;
    const { acts, messages: count } = await readActs(tenant, session.id, period);
    messages += count;
    const finding = findIn(acts, subject);
    if (finding !== undefined) sessions.push({ session, finding });
  }
  return { subject, sessions, unread: found.length - read };
}

function toSubject(
  file: string | undefined,
  command: string | undefined,
  error: string | undefined,
): Subject {
  const given = Object.entries({ file, command, error }).filter(([, text]) => text !== undefined);
  const [[kind, text] = ["", ""]] = given;
  if (given.length === 1 && text !== undefined && text.trim() !== "") {
    return { kind: kind as Subject["kind"], text: text.trim() };
  }
  throw new BackscrollError("invalid_input", "name one of file, command and error", {
    details: { field: given.length === 0 ? "file" : (given[1]?.[0] ?? kind) },
  });
}

/** By last interaction, newest first. */
async function findSessions(
  tenant: TenantApi,
  subject: Subject,
  filter: SearchInput,
  { since, until }: Period,
  now: number,
): Promise<readonly Session[]> {
  const query = searchText(subject);
  const find = async (from: number | undefined) => {
    const { hits } = await tenant.searchSessions(query, {
      ...filter,
      ...(from === undefined ? {} : { since: from }),
      match: "words",
      limit: MAX_HITS,
      contextBefore: 0,
      contextAfter: 0,
    });
    return hits.map(({ sessionId }) => sessionId);
  };
  const recent = Math.max(now - RECENT_MS, since ?? 0);
  const isOver = (until ?? Number.POSITIVE_INFINITY) <= recent;
  const ids = new Set([...(isOver ? [] : await find(recent)), ...(await find(since))]);
  const sessions: Session[] = [];
  for (const id of ids) {
    const session = await foundSession(tenant, id);
    if (session !== undefined) sessions.push(session);
  }
  return sessions
    .filter((session) => !isMachineMade(session))
    .sort((a, b) => b.lastInteractionAt - a.lastInteractionAt);
}
