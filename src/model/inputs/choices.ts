/** Enumerations of inputs and answers, each with its type, for the schemas of all surfaces. */

/** How a compaction continues the previous one: see `CompactInput`. */
export const SUMMARY_STRATEGIES = ["rolling", "hierarchical"] as const;
export type SummaryStrategy = (typeof SUMMARY_STRATEGIES)[number];

export const SUMMARIZERS = ["mechanical", "model"] as const;
export type SummarizerName = (typeof SUMMARIZERS)[number];

export const SUMMARY_FALLBACKS = ["mechanical", "none"] as const;
export type SummaryFallback = (typeof SUMMARY_FALLBACKS)[number];

/** Named amounts that a compaction keeps. */
export const KEEP_WORDS = ["half", "none"] as const;
export type KeepWord = (typeof KEEP_WORDS)[number];

/** The branches that a search covers. */
export const BRANCH_SCOPES = ["active", "all"] as const;
export type BranchScope = (typeof BRANCH_SCOPES)[number];

/** Query modes: see `QueryMatch` of the search. */
export const QUERY_MATCHES = ["any", "all", "words"] as const;

/** Named rankings. */
export const RANKINGS = ["default", "plain"] as const;
export type RankingName = (typeof RANKINGS)[number];

/** The branch of a hit off the active path. */
export const HIT_BRANCHES = ["late", "left"] as const;

/** The subjects of a trace. */
export const TRACE_SUBJECTS = ["file", "command", "error"] as const;

/** How an import handles entries that precede stored ones. */
export const LATE_ENTRIES = ["refuse", "anew", "aside"] as const;
export type LateEntries = (typeof LATE_ENTRIES)[number];

export const BACKENDS = ["sqlite", "postgres"] as const;
export type Backend = (typeof BACKENDS)[number];

/** The parts of a context. */
export const CONTEXT_PARTS = ["pinned", "summary", "facts", "recalled", "recent"] as const;
