/** Rules: lists what people meant to stand, and keeps what a person decided about it. */

import { checkName } from "../../model/ids.ts";
import type { RuleScope } from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Rule, RuleList } from "../../model/note.ts";
import type { Session } from "../../model/session.ts";
import { replacesRule, sameText } from "../../rules/compare-rules.ts";
import { redact } from "../../secrets/redact.ts";
import type { SessionPosition } from "../../store/records.ts";
import { recordNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey, checkLimit, invalid } from "../check.ts";
import { findAll } from "../context/standing.ts";
import type { EngineContext } from "../engine-context.ts";
import { listMessages } from "../read.ts";
import type { RecordOperation } from "../records/record-input.ts";
import { Records } from "../records/records.ts";
import { resolveSession } from "../sessions/resolve-session.ts";
import { candidatesOf, MAX_CANDIDATES, placeOf, placesOf, rulesOf } from "./find-candidates.ts";
import { isInForce, openCandidates } from "./offer-rules.ts";
import {
  deleting,
  NAMESPACE,
  putting,
  type RulePlace,
  readRules,
  type StoredRule,
} from "./stored-rules.ts";

export interface ListRulesInput {
  /** A project's id, or the end of its path. */
  readonly project?: string;
  readonly owner?: string;
  /** Its candidates, and the rules in force of its project and owner. */
  readonly session?: string;
  /** At most 500. Default 50. */
  readonly limit?: number;
  /** Without candidates, for which sessions are read. */
  readonly inForce?: boolean;
}

export interface AddRuleInput {
  /** At most 512 bytes. */
  readonly text: string;
  /** The project that it holds in: its id, or the end of its path. */
  readonly project?: string;
  /** Whose sessions it holds in, where there is no project. */
  readonly owner?: string;
}

export interface AcceptRuleInput {
  /** Where it holds from now on. Default: in the project, if its session has one. */
  readonly scope?: RuleScope;
}

/** How many sessions are read for candidates, the newest first. */
const MAX_SESSIONS = 200;
/** Sessions per read. */
const SESSION_PAGE = 50;
/** How many of their messages are read: a second for each 20,000. */
const MAX_MESSAGES = 50_000;
/** Candidates per rule of the list: most were said once, or were decided on. */
const PER_RULE = 4;

/** The rules in force, newest first, then the candidates, newest first. */
export async function listRules(engine: EngineContext, input: ListRulesInput): Promise<RuleList> {
  const { project, owner, session: ref, inForce } = checkInput(input, "options", INPUTS.listRules);
  const limit = checkLimit(input.limit);
  const session = ref === undefined ? undefined : await resolveSession(engine, ref);
  const all = await readRules(engine, session && placesOf(session));
  const sessions = session ? [session] : sessionsOf(engine, { project, owner });
  const messages = inForce === true ? 0 : MAX_MESSAGES;
  const most = limit * PER_RULE;
  const { found, projects, complete } = await readCandidates(engine, sessions, most, messages);
  const isWanted = (rule: StoredRule) =>
    (project === undefined || isIn(rule, project, projects)) &&
    (owner === undefined || rule.owner === null || rule.owner === owner);
  const standing = all.filter((rule) => isInForce(rule) && isWanted(rule)).map(toShown);
  const candidates = openCandidates(newestFirst(found), all);
  return { rules: [...newestFirst(standing), ...candidates].slice(0, limit), complete };
}

/** Until there are `enough`. Of `most` 0 messages: only the projects. */
async function readCandidates(
  engine: EngineContext,
  sessions: Iterable<Session> | AsyncIterable<Session>,
  enough: number,
  most: number,
) {
  const found: Rule[] = [];
  const projects = new Set<string>();
  let complete = true;
  let read = 0;
  let messages = most;
  for await (const session of sessions) {
    const isEnough = found.length >= Math.min(enough, MAX_CANDIDATES);
    const isUsedUp = messages <= 0 && most > 0;
    if (isEnough || isUsedUp || read === MAX_SESSIONS) return { found, projects, complete: false };
    projects.add(placeOf(session).project ?? "");
    if (most === 0) continue;
    const own = await candidatesOf(engine, session, { messages });
    found.push(...own.rules.slice(0, MAX_CANDIDATES - found.length));
    complete &&= own.complete;
    messages -= own.read;
    read++;
  }
  return { found, projects, complete };
}

function isIn({ project }: Rule, name: string, known: ReadonlySet<string>): boolean {
  if (project === null) return true;
  return (
    known.has(project) ||
    project === name ||
    (/[/\\]/.test(project.at(-name.length - 1) ?? "") && project.endsWith(name))
  );
}

/**
 * Puts a candidate into force: by its id, or by its source, `SESSION#N`. Rules in force that say
 * something else about the same thing are replaced: see `replaces`.
 */
export async function acceptRule(
  engine: EngineContext,
  ref: string,
  input: AcceptRuleInput,
): Promise<Rule> {
  const { scope } = checkInput(input, "options", INPUTS.acceptRule);
  const { rule, session } = await findCandidate(engine, ref);
  const place = scope === undefined ? placeOf(session) : scopeOf(session, scope);
  return putIntoForce(engine, { ...rule, ...place }, session.owner);
}

/** Puts a person's own words into force. */
export async function addRule(engine: EngineContext, input: AddRuleInput): Promise<Rule> {
  const { text, project, owner } = checkInput(input, "rule", INPUTS.addRule);
  if ((project === undefined) === (owner === undefined)) {
    throw invalid("project", "a rule holds in a project or for an owner; give one of the two");
  }
  const place: RulePlace =
    project === undefined
      ? { project: null, owner: checkName(owner, "owner") }
      : { project: await findProject(engine, project), owner: null };
  if (redact(text).text !== text) {
    throw invalid("text", "text has a secret, which contexts must not quote; say where it is kept");
  }
  const now = engine.now();
  const source = { sessionId: null, sourceEntry: null, source: null };
  const rule = { text: checkName(text, "text"), status: "in_force" as const, ...place, ...source };
  return putIntoForce(engine, { id: engine.newId(), ...rule, saidAt: now, replaces: null }, null);
}

/** A candidate that is no rule: it does not come back, and is out of force where it was accepted. */
export async function rejectRule(engine: EngineContext, ref: string): Promise<Rule> {
  checkKey(ref, "ruleId");
  const all = await readRules(engine);
  const found = all.some(({ id }) => id === ref) ? undefined : await findCandidate(engine, ref);
  const stored = all.filter(({ id }) => id === (found?.rule.id ?? ref));
  const place = found && placeOf(found.session);
  const rejected =
    found && stored.length === 0
      ? [putting({ ...found.rule, ...place }, found.session.owner, true)]
      : stored.map(outOfForce);
  await new Records(engine).write(rejected);
  const [first] = stored;
  const rule = found?.rule ?? (first && toShown(first));
  if (rule === undefined) throw recordNotFound(NAMESPACE, ref);
  return { ...rule, status: "candidate" };
}

/** A found rule stays as rejected, so that it does not come back; one added by hand is deleted. */
function outOfForce(rule: StoredRule): RecordOperation {
  return rule.sourceEntry === null ? deleting(rule) : putting(toShown(rule), rule.author, true);
}

/** Takes a rule out of force; of a rejected candidate, takes the rejection back. */
export async function removeRule(engine: EngineContext, id: string): Promise<void> {
  checkKey(id, "ruleId");
  const stored = (await readRules(engine)).filter((rule) => rule.id === id || rule.source === id);
  if (stored.length === 0) throw recordNotFound(NAMESPACE, id);
  const ids = new Set(stored.map((rule) => rule.id));
  if (ids.size > 1) {
    throw invalid("ruleId", `${id} has ${ids.size} rules; name one of ${[...ids].join(", ")}`);
  }
  const operations = stored.map((rule) => (rule.isRejected ? deleting(rule) : outOfForce(rule)));
  await new Records(engine).write(operations);
}

async function putIntoForce(
  engine: EngineContext,
  rule: Rule,
  author: string | null,
): Promise<Rule> {
  const others = (await readRules(engine, [rule])).filter(({ id }) => id !== rule.id);
  const replaced = others.filter((other) => isInForce(other) && replacesRule(rule, other));
  const repeated = others.filter((other) => sameText(other, rule));
  // Somebody else's sentence must go when they are forgotten.
  const quoted = replaced.find((other) => other.author === null || other.author === author);
  const accepted: Rule = { ...rule, status: "in_force", replaces: quoted?.text ?? null };
  const gone = [...new Set([...replaced, ...repeated])];
  await new Records(engine).write([putting(accepted, author), ...gone.map(deleting)]);
  return accepted;
}

function scopeOf(session: Session, scope: RuleScope): RulePlace {
  if (scope === "owner") return { project: null, owner: session.owner };
  const place = placeOf(session);
  if (place.project !== null) return place;
  throw invalid("scope", `session ${session.id} has no project; accept the rule for its owner`);
}

async function findProject(engine: EngineContext, name: string): Promise<string> {
  for await (const session of sessionsOf(engine, { project: name })) {
    const { project } = placeOf(session);
    if (project !== null) return project;
  }
  throw invalid("project", `no session is of project ${name}; list shows the projects`);
}

/** Newest first, a page more than are read for candidates. */
async function* sessionsOf(
  engine: EngineContext,
  {
    project,
    owner,
  }: { readonly project?: string | undefined; readonly owner?: string | undefined },
): AsyncGenerator<Session> {
  const filter = {
    ...(project === undefined ? {} : { project }),
    ...(owner === undefined ? {} : { owner }),
    machineMade: false,
  };
  let after: SessionPosition | undefined;
  for (let read = 0; read <= MAX_SESSIONS; read += SESSION_PAGE) {
    const page = { limit: SESSION_PAGE, ...(after === undefined ? {} : { after }) };
    const { sessions, next } = await engine.store.listSessions(engine.tenant, filter, page);
    yield* sessions;
    if (next === undefined) return;
    after = next;
  }
}

/** By its id, `ENTRY-N`, or its source: `SESSION#N`, or the entry. Of several, the first. */
async function findCandidate(
  engine: EngineContext,
  ref: string,
): Promise<{ readonly rule: Rule; readonly session: Session }> {
  checkKey(ref, "ruleId");
  const [, named, index] = /^(.{1,256})#(\d{1,9})$/.exec(ref) ?? [];
  const [, entryId = ref, place = "1"] = /^(.{1,128})-(\d{1,4})$/.exec(ref) ?? [];
  const entry =
    named === undefined
      ? (await findAll(engine, [entryId]))[0]
      : await entryAt(engine, named, Number(index));
  const session = entry && (await engine.store.findSession(engine.tenant, entry.sessionId));
  const rule = entry && session && rulesOf(session, entry)[Number(place) - 1];
  if (session === undefined || rule === undefined) throw recordNotFound(NAMESPACE, ref);
  return { rule, session };
}

async function entryAt(engine: EngineContext, ref: string, index: number) {
  const { id } = await resolveSession(engine, ref);
  return (await listMessages(engine, id, { offset: index, limit: 1 })).messages[0];
}

function newestFirst(rules: readonly Rule[]): readonly Rule[] {
  return rules.toSorted((a, b) => b.saidAt - a.saidAt);
}

function toShown({ isRejected: _, key: __, author: ___, ...rule }: StoredRule): Rule {
  return rule;
}
