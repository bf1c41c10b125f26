/** Values that inputs and answers take by name, each list with its type: the schemas of all surfaces read them. */

/** How a compaction goes on from the one before: see `CompactInput`. */
export const SUMMARY_STRATEGIES = ["rolling", "hierarchical"] as const;
export type SummaryStrategy = (typeof SUMMARY_STRATEGIES)[number];

export const SUMMARIZERS = ["mechanical", "model"] as const;
export type SummarizerName = (typeof SUMMARIZERS)[number];

export const SUMMARY_FALLBACKS = ["mechanical", "none"] as const;
export type SummaryFallback = (typeof SUMMARY_FALLBACKS)[number];

/** What a compaction keeps, in a word. */
export const KEEP_WORDS = ["half", "none"] as const;
export type KeepWord = (typeof KEEP_WORDS)[number];

/** Which branches a search looks at. */
export const BRANCH_SCOPES = ["active", "all"] as const;
export type BranchScope = (typeof BRANCH_SCOPES)[number];

/** How a query is read: see `QueryMatch` of the search. */
export const QUERY_MATCHES = ["any", "all", "words"] as const;

/** The rankings that have a name. */
export const RANKINGS = ["default", "plain"] as const;
export type RankingName = (typeof RANKINGS)[number];

/** Where a hit is that is not on the active path. */
export const HIT_BRANCHES = ["late", "left"] as const;

/** What a trace follows. */
export const TRACE_SUBJECTS = ["file", "command", "error"] as const;

/** What an import does with entries that precede stored ones. */
export const LATE_ENTRIES = ["refuse", "anew", "aside"] as const;
export type LateEntries = (typeof LATE_ENTRIES)[number];

export const BACKENDS = ["sqlite", "postgres"] as const;
export type Backend = (typeof BACKENDS)[number];

/** Why a message is in a context. */
export const CONTEXT_PARTS = ["pinned", "summary", "facts", "recalled", "recent"] as const;
