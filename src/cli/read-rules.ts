/** What decides on this machine about what is stored and what may leave: for reports. */

import { survey } from "../archive/ingest.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { thisMachine } from "../ingest/identity/identity.ts";
import { messageOf } from "../model/errors.ts";
import { type Policy, readPolicy } from "../policy.ts";
import { ignoredList } from "./print-ingest.ts";

export interface WireRules {
  /** The rules of `ignore` in the configuration. */
  readonly ignore: readonly string[];
  /** Files of which a rule keeps the only session out, by rule, as far as they were looked at. */
  readonly ignored_by: Readonly<Record<string, number>>;
  /** Days that ingested sessions are kept after their last message; null: for ever. */
  readonly keep_days: number | null;
  /** Why nothing is ingested now, such as a wrong configuration. */
  readonly problem: string | null;
  readonly policy: Policy;
}

const DAY_MS = 86_400_000;

export async function readRules(tenant: TenantApi): Promise<WireRules> {
  const policy = readPolicy();
  try {
    const { rules, ignoredBy, keepMs } = await survey(tenant, { environment: thisMachine() });
    return {
      ignore: rules,
      ignored_by: Object.fromEntries(ignoredBy),
      keep_days: keepMs === null ? null : keepMs / DAY_MS,
      problem: null,
      policy,
    };
  } catch (error) {
    return { ignore: [], ignored_by: {}, keep_days: null, problem: messageOf(error), policy };
  }
}

/** Names of ten characters, and what there is to say. */
export function ruleLines({ ignore, ignored_by, keep_days, problem, policy }: WireRules): string[] {
  if (problem !== null)
    return [`Rules     nothing is ingested: ${problem}`, ...policyLines(policy)];
  const counts = new Map(Object.entries(ignored_by));
  for (const rule of ignore) if (!counts.has(rule)) counts.set(rule, 0);
  return [
    ...(counts.size === 0 ? [] : [`Ignored   ${ignoredList(counts)}`]),
    ...(keep_days === null ? [] : [`Kept      ${keep_days} days after the last message`]),
    ...policyLines(policy),
  ];
}

function policyLines({ path, forbidden, problem }: Policy): string[] {
  if (path === null) return [];
  if (problem !== null) return [`Policy    ${path} forbids all that it can: ${problem}`];
  return [`Policy    ${path} forbids ${forbidden.length === 0 ? "nothing" : forbidden.join(", ")}`];
}
