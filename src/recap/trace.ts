/**
 * Finds the sessions that touched a file, ran a command or met an error, and the error's fix.
 *
 * Complete: the index names every session that may have the text, and the tool calls of each are
 * read to confirm, since a mention is not a change.
 */

import { checkHits, checkPeriod, type Period } from "../engine/check.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { SearchInput } from "../engine/search.ts";
import type { TextScope } from "../engine/sessions/list-sessions.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { Mark } from "../model/mark.ts";
import type { Session } from "../model/session.ts";
import type { FiltersOf } from "../model/session-filters.ts";
import { foundSession, unlessDeleted } from "./found-session.ts";
import { type Act, readPath, readTree } from "./read-acts.ts";
import {
  type Finding,
  findIn,
  pathParts,
  type Sought,
  type Subject,
  seek,
} from "./trace-session.ts";

export interface TraceInput extends Pick<SearchInput, FiltersOf<"trace">> {
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
  /** True: only branches other than the active one have it; indexes count along each. */
  readonly otherBranch: boolean;
  /** The marks of the session and its messages that stand. */
  readonly marks: readonly Mark[];
}

export interface Trace {
  readonly subject: Subject;
  /** True: no session has the text as whole words, so it was sought within words, in any case. */
  readonly withinWords: boolean;
  /** The newest first. */
  readonly sessions: readonly TracedSession[];
  /** The number of further sessions that have it, beyond the limit. */
  readonly more: number;
  /** The number of older sessions that may have it and were not read; 0: the trace is complete. */
  readonly unread: number;
}

export interface TraceOptions {
  /** Called before each session is read. */
  readonly onProgress?: (read: number, total: number) => void;
  /** The limit of messages read; then no further session is. Default 200,000. */
  readonly maxMessages?: number;
}

export const DEFAULT_TRACED_SESSIONS = 5;
/** Reading so many takes about ten seconds, in pages of a few milliseconds. */
const MAX_MESSAGES = 200_000;

/** A tenant of a server traces there, in one request. */
type Tracing = TenantApi & { traceWork?(input: TraceInput): Promise<Trace> };

export async function traceWork(
  tenant: Tracing,
  input: TraceInput,
  options: TraceOptions = {},
): Promise<Trace> {
  if (tenant.traceWork !== undefined) return tenant.traceWork(input);
  const { file, command, error, limit, ...scope } = checkFields(input, "options", INPUTS.traceWork);
  const task = {
    tenant,
    scope,
    period: checkPeriod(scope),
    limit: checkHits(limit, "limit", DEFAULT_TRACED_SESSIONS),
    ...options,
  };
  const subject = toSubject(file, command, error);
  const found = await traceAs(seek(subject, true), task);
  const isWhole =
    found.sessions.length > 0 || subject.kind === "file" || !HAS_WORD.test(subject.text);
  if (isWhole) return { subject, withinWords: false, ...found };
  return { subject, withinWords: true, ...(await traceAs(seek(subject, false), task)) };
}

const HAS_WORD = /[\p{L}\p{N}]/u;

function toSubject(
  file: string | undefined,
  command: string | undefined,
  error: string | undefined,
): Subject {
  const given = Object.entries({ file, command, error }).filter(([, text]) => text !== undefined);
  const [[kind, text] = ["", ""]] = given;
  const isNamed = kind === "file" ? pathParts(text ?? "").length > 0 : text?.trim() !== "";
  if (given.length === 1 && text !== undefined && isNamed) {
    return { kind: kind as Subject["kind"], text: text.trim() };
  }
  throw new BackscrollError("invalid_input", "name one of file, command and error", {
    details: { field: given.length === 0 ? "file" : (given[1]?.[0] ?? kind) },
  });
}

interface TraceTask extends TraceOptions {
  readonly tenant: TenantApi;
  readonly scope: TextScope;
  readonly period: Period;
  readonly limit: number;
}

async function traceAs(
  sought: Sought,
  task: TraceTask,
): Promise<Pick<Trace, "sessions" | "more" | "unread">> {
  const { tenant, limit, maxMessages = MAX_MESSAGES } = task;
  const candidates = await findCandidates(sought, task);
  const sessions: TracedSession[] = [];
  let [read, messages, more] = [0, 0, 0];
  for (const session of candidates) {
    if (messages >= maxMessages) break;
    task.onProgress?.(read, candidates.length);
    read++;
    const isShown = sessions.length < limit;
    const found = await unlessDeleted(() => traceSession(session, sought, isShown, task));
    messages += found?.read ?? 0;
    if (found?.traced === undefined) continue;
    if (isShown) {
      const marks = await unlessDeleted(() => tenant.session(session.id).marks());
      sessions.push({ ...found.traced, marks: marks ?? [] });
    } else more++;
  }
  return { sessions, more, unread: candidates.length - read };
}

/** By last interaction, newest first. */
async function findCandidates(
  { run }: Sought,
  { tenant, scope }: TraceTask,
): Promise<readonly Session[]> {
  const ids = (await tenant.findSessionsWithText?.(run, scope)) ?? [];
  const sessions: Session[] = [];
  for (const id of ids) {
    const session = await foundSession(tenant, id);
    if (session !== undefined) sessions.push(session);
  }
  return sessions.sort(
    (a, b) => b.lastInteractionAt - a.lastInteractionAt || (a.id < b.id ? -1 : 1),
  );
}

/** A session that is only counted is read up to the first finding. */
async function traceSession(
  session: Session,
  sought: Sought,
  isShown: boolean,
  { tenant, period }: TraceTask,
): Promise<{ readonly traced: Omit<TracedSession, "marks"> | undefined; readonly read: number }> {
  const { id, messageCount } = session;
  const { kind, find } = sought;
  // A call that touched a file may turn out to have failed.
  const isEnough = (acts: readonly Act[]) =>
    !isShown && kind !== "file" && findIn(acts, sought) !== undefined;
  const { acts, total, read } = await readPath(tenant, id, period, find, isEnough);
  const finding = findIn(acts, sought);
  if (finding !== undefined) return { traced: { session, finding, otherBranch: false }, read };
  if (total >= messageCount) return { traced: undefined, read };
  const other = findIn(await readTree(tenant, id, period, find), sought);
  const traced = other && { session, finding: other, otherBranch: true };
  return { traced, read: read + messageCount };
}
