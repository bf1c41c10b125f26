/**
 * Stored rules: records of one namespace, by the scope that they hold in. A rejected candidate is a
 * record, too, so that it does not come back.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { RULE_STATUSES, type Rule } from "../../model/note.ts";
import type { EngineContext } from "../engine-context.ts";
import type { RecordOperation } from "../records/record-input.ts";
import { eachRecord, Records } from "../records/records.ts";

export const NAMESPACE = "backscroll-rules";
/** Of one scope or, for a list, of all: people state tens. */
const MAX_RULES = 2_000;

export interface StoredRule extends Rule {
  readonly isRejected: boolean;
  readonly key: string;
  readonly author: string | null;
}

export type RulePlace = Pick<Rule, "project" | "owner">;

/** The rules of these scopes; without any, all of the tenant. */
export async function readRules(
  engine: EngineContext,
  places?: readonly RulePlace[],
): Promise<readonly StoredRule[]> {
  const rules: StoredRule[] = [];
  const records = new Records(engine);
  for (const prefix of places?.map(prefixOf) ?? [""]) {
    for await (const { key, value } of eachRecord(records, {
      namespace: NAMESPACE,
      prefix,
      values: true,
    })) {
      const rule = toRule(key, value);
      if (rule !== undefined) rules.push(rule);
      if (rules.length >= MAX_RULES) return rules;
    }
  }
  return rules;
}

/** `author` is the owner of the source's session: their rules are theirs to export and forget. */
export function putting(rule: Rule, author: string | null, isRejected = false): RecordOperation {
  const value: JsonObject = { ...rule, ...(author === null ? {} : { author }), isRejected };
  return { put: { namespace: NAMESPACE, key: `${prefixOf(rule)}${rule.id}`, value } };
}

export function deleting({ key }: StoredRule): RecordOperation {
  return { delete: { namespace: NAMESPACE, key } };
}

function prefixOf({ project, owner }: RulePlace): string {
  const [scope, name] = project === null ? ["owner", owner ?? ""] : ["project", project];
  return `${scope}/${encodeURIComponent(name)}/`;
}

/** Undefined for a record that somebody else put there. */
function toRule(key: string, value: unknown): StoredRule | undefined {
  if (!isPlainObject(value)) return undefined;
  const { id, text, status, saidAt, isRejected } = value;
  const isRule =
    typeof id === "string" &&
    typeof text === "string" &&
    typeof saidAt === "number" &&
    RULE_STATUSES.some((each) => each === status);
  if (!isRule) return undefined;
  const textOf = (name: string) => {
    const field = value[name];
    return typeof field === "string" ? field : null;
  };
  return {
    id,
    text,
    status: "in_force",
    project: textOf("project"),
    owner: textOf("owner"),
    sessionId: textOf("sessionId"),
    sourceEntry: textOf("sourceEntry"),
    source: textOf("source"),
    saidAt,
    replaces: textOf("replaces"),
    isRejected: isRejected === true,
    key,
    author: textOf("author"),
  };
}
