/**
 * The compaction policy in a session's metadata.
 *
 * Metadata has many writers, so it is read leniently: unknown values are reported and get their
 * defaults. The caller decides whether to compact.
 */

import { COMPACTION } from "../model/compaction-numbers.ts";
import { wayFromElsewhere } from "../model/inputs/elsewhere.ts";
import { describe, isPlainObject, type JsonObject } from "../model/json.ts";
import { didYouMean } from "../model/suggest.ts";

/**
 * `rolling` folds the previous summary into the next one, `hierarchical` keeps summaries of
 * summaries; `never` disables the trigger only; an explicit compaction still runs.
 */
export const COMPACTION_STRATEGIES = ["rolling", "hierarchical", "never"] as const;
export type CompactionStrategy = (typeof COMPACTION_STRATEGIES)[number];

export interface CompactionPolicy {
  /** Due above this many turns … */
  readonly triggerTurns: number;
  /** … or above this many tokens. */
  readonly triggerTokens: number;
  /** A logical name that the host's configuration maps to a model. */
  readonly summarizerModel: string;
  readonly strategy: CompactionStrategy;
}

export const DEFAULT_COMPACTION_POLICY: CompactionPolicy = {
  triggerTurns: COMPACTION.turns.triggerTurns,
  triggerTokens: COMPACTION.turns.triggerTokens,
  summarizerModel: "default",
  strategy: "rolling",
};

/** Reads `metadata.compaction`. `problems` lists the ignored fields with reasons. */
export function readCompactionPolicy(metadata: JsonObject): {
  readonly policy: CompactionPolicy;
  readonly problems: readonly string[];
} {
  const value = metadata["compaction"] ?? {};
  if (!isPlainObject(value)) {
    const problem = `compaction is ${describe(value)}, not an object: the defaults apply`;
    return { policy: DEFAULT_COMPACTION_POLICY, problems: [problem] };
  }
  const problems = Object.keys(value)
    .filter((name) => !KNOWN.includes(name))
    .map((name) => `compaction.${name} is not known${wayOf(name)}`);
  if (typeof (value["enabled"] ?? true) !== "boolean") {
    problems.push("compaction.enabled must be true or false; true applies");
  }

  const field = <T extends number | string>(
    name: keyof CompactionPolicy & string,
    fallback: T,
    parse: (given: unknown) => T | undefined,
    want: string,
  ): T => {
    const parsed = parse(value[name] ?? fallback);
    if (parsed === undefined) {
      problems.push(`compaction.${name} must be ${want}; ${fallback} applies`);
    }
    return parsed ?? fallback;
  };
  const { triggerTurns, triggerTokens, summarizerModel, strategy } = DEFAULT_COMPACTION_POLICY;
  const policy: CompactionPolicy = {
    triggerTurns: field("triggerTurns", triggerTurns, asCount, "a number that is not negative"),
    triggerTokens: field("triggerTokens", triggerTokens, asCount, "a number that is not negative"),
    summarizerModel: field("summarizerModel", summarizerModel, asName, "a name"),
    strategy: field("strategy", strategy, asStrategy, `one of ${COMPACTION_STRATEGIES.join(", ")}`),
  };
  return { policy, problems };
}

/** `enabled` is the gateway's: false switches any of its policies off. */
const KNOWN = [...Object.keys(DEFAULT_COMPACTION_POLICY), "enabled"];

function wayOf(name: string): string {
  const elsewhere = wayFromElsewhere(name, KNOWN);
  return elsewhere === undefined ? didYouMean(name, KNOWN) : `; ${elsewhere}`;
}

/** The first value of `metadata.compaction` that would be ignored, with its field. */
export function compactionProblem(
  metadata: JsonObject,
): { readonly field: string; readonly message: string } | undefined {
  const [problem] = readCompactionPolicy(metadata).problems;
  if (problem === undefined) return undefined;
  const [field = ""] = problem.split(" ", 1);
  // Nothing applies instead: the value is refused.
  const message = problem.replace(/; \S+ applies$|: the defaults apply$/, "");
  return { field: `metadata.${field}`, message: `metadata.${message}` };
}

/** Turns and tokens without a summary: committed messages that no edit superseded. */
export interface UnsummarizedCounts {
  readonly turns: number;
  readonly tokens: number;
}

/** Whether a threshold is exceeded; reaching it is not enough. */
export function isCompactionDue(policy: CompactionPolicy, counts: UnsummarizedCounts): boolean {
  if (policy.strategy === "never") return false;
  return counts.turns > policy.triggerTurns || counts.tokens > policy.triggerTokens;
}

/** A number, also as text. */
function asCount(value: unknown): number | undefined {
  const isText = typeof value === "string" && value.trim() !== "";
  const count = isText ? Number(value) : value;
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : undefined;
}

function asName(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function asStrategy(value: unknown): CompactionStrategy | undefined {
  const name = asName(value)?.toLowerCase();
  return COMPACTION_STRATEGIES.find((strategy) => strategy === name);
}
