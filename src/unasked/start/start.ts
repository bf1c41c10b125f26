/**
 * A session starts: what was left unfinished here, the last two sessions by what came of them, and
 * the rules that a person confirmed. Nothing in a new folder.
 */

import { formatSpan } from "../../api/text/times.ts";
import type { Entry } from "../../model/entry.ts";
import type { Session } from "../../model/session.ts";
import { isSubAgent } from "../../model/session.ts";
import { actsOf } from "../../recap/read-acts.ts";
import type { Asker } from "../asker.ts";
import { cut } from "../frame.ts";
import type { Verdict } from "../moment.ts";
import { outcomeOf } from "./outcome.ts";

const MAX_SESSIONS = 2;
/** Sessions that are looked at for two that did something. */
const MAX_READ = 8;
const MAX_LISTED = 100;
/** Messages of a session's end that are read. */
const LAST_MESSAGES = 120;
const MAX_RULES = 3;
const MAX_RULE_BYTES = 160;
const MAX_ASKED_BYTES = 100;

export async function askStart(asker: Asker): Promise<Verdict> {
  const { tenant, moment } = asker;
  const { cwd, at } = moment;
  const { sessions } = await tenant.listSessions({ project: cwd, limit: MAX_LISTED });
  const before = sessions.filter(
    (session) =>
      session.origin.projectPath === cwd && session.startedAt < at && !isSubAgent(session),
  );
  const lines: string[] = [];
  let first: { readonly session: Session; readonly index: number } | undefined;
  for (const { session, last } of await newestFirst(asker, before.slice(0, MAX_READ))) {
    if (lines.length >= MAX_SESSIONS || asker.isLate) break;
    const from = last + 1 - LAST_MESSAGES;
    const entries = await asker.read(session.id, from, last + 1 - Math.max(0, from));
    const told = tell(session, entries, at);
    if (told === undefined) continue;
    lines.push(told);
    first ??= { session, index: actsOf(entries).at(-1)?.index ?? 0 };
  }
  if (first === undefined) return { reason: "nothing_found", figures: { sessions: 0 } };
  const figures = { sessions: lines.length, rules: 0 };
  const { rules: known } = await tenant.listRules({ session: first.session.id, inForce: true });
  for (const { text, status, saidAt, sessionId } of known) {
    if (figures.rules >= MAX_RULES) break;
    if (status !== "in_force" || saidAt >= at) continue;
    if (sessionId !== null && !(await asker.mayQuote(sessionId))) continue;
    lines.push(`Your user's rule: "${cut(text, MAX_RULE_BYTES)}"`);
    figures.rules++;
  }
  const { id: sessionId, shortId } = first.session;
  const hit = { sessionId, shortId, index: first.index };
  const person = `told of ${figures.sessions} earlier session${figures.sessions === 1 ? "" : "s"} here${figures.rules > 0 ? ` and ${figures.rules} of your rules` : ""}.`;
  return { reason: "sure", figures, found: { hit, lines, person } };
}

interface Before {
  readonly session: Session;
  /** The index of its last message, and when it was said. */
  readonly last: number;
  readonly at: number;
}

/** By the last message before the moment; without those that may not be quoted, or are marked. */
async function newestFirst(asker: Asker, sessions: readonly Session[]): Promise<Before[]> {
  const found: Before[] = [];
  for (const session of sessions) {
    if (!(await asker.mayQuote(session.id))) continue;
    const last = await asker.lastBefore(session);
    if (last === undefined) continue;
    const { index, at } = last;
    if (await asker.isMarked({ sessionId: session.id, index })) continue;
    found.push({ session, last: index, at });
  }
  return found.sort((a, b) => b.at - a.at);
}

/** One line; undefined where nothing was done that another session could go on with. */
function tell(session: Session, entries: readonly Entry[], now: number): string | undefined {
  const outcome = outcomeOf(entries);
  if (outcome === undefined) return undefined;
  const acts = actsOf(entries);
  const asked = acts.findLast((act) => act.type === "said" && act.role === "user");
  const { agent, shortId, origin, title } = session;
  const age = formatSpan(now - (acts.at(-1)?.at ?? session.lastInteractionAt));
  const when = age === undefined ? "just now" : `${age} ago`;
  const branch = origin.gitBranch === undefined ? "" : `, branch ${origin.gitBranch}`;
  const subject = title === "" && asked?.type === "said" ? asked.text : title;
  return `${agent}, ${when}${branch} (${shortId}): "${cut(subject, MAX_ASKED_BYTES)}". ${outcome}`;
}
