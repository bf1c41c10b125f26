/** The rules for a context: those in force, and what was said in the session itself. */

import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import type { Rule } from "../../model/note.ts";
import { orderRules, replacesRule, sameText } from "../../rules/compare-rules.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import type { CheckedContext } from "../context/context-options.ts";
import type { EngineContext } from "../engine-context.ts";
import { candidatesOf, placesOf } from "./find-candidates.ts";
import { readRules, type StoredRule } from "./stored-rules.ts";

/** Best first. */
export async function rulesFor(
  engine: EngineContext,
  sessionId: string,
  newest: Entry | undefined,
  { query, leaf, participants }: CheckedContext,
): Promise<readonly Rule[]> {
  const session = await engine.store.findSession(engine.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const stored = await readRules(engine, placesOf(session));
  const { rules: candidates } = await candidatesOf(engine, session, { leaf, participants });
  const rules = [...stored.filter(isInForce), ...openCandidates(candidates, stored)];
  return orderRules(rules, query ?? textOf(newest?.blocks ?? []));
}

export function isInForce({ isRejected }: StoredRule): boolean {
  return !isRejected;
}

/**
 * The candidates that nobody has decided on, the newest first, without those that a later one or a
 * rule in force replaces; a later one says which rule it would replace.
 */
export function openCandidates(
  newestFirst: readonly Rule[],
  stored: readonly StoredRule[],
): readonly Rule[] {
  const open: Rule[] = [];
  const offered: Rule[] = [];
  for (const candidate of newestFirst) {
    const decided = [...stored, ...open].filter((rule) => holdsWith(rule, candidate));
    if (decided.some((rule) => sameText(rule, candidate))) continue;
    if (decided.some((rule) => !isRejectedRule(rule) && replacesRule(rule, candidate))) continue;
    const older = stored.find(
      (rule) => isInForce(rule) && holdsWith(rule, candidate) && replacesRule(candidate, rule),
    );
    open.push(candidate);
    offered.push({ ...candidate, replaces: older?.text ?? null });
  }
  return offered;
}

/** Whether a rule holds where the candidate would: in one project, or for an owner. */
function holdsWith(rule: Rule, { project, owner }: Rule): boolean {
  return rule.project === project ? rule.owner === owner : rule.project === null;
}

function isRejectedRule(rule: Rule | StoredRule): boolean {
  return "isRejected" in rule && rule.isRejected;
}
