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

/** The branches that a search covers. */
/** `relevance`: the best first. `time`: of the best ones the newest first. */
export const SEARCH_ORDERS = ["relevance", "time"] as const;
export type SearchOrder = (typeof SEARCH_ORDERS)[number];

/** Of a list: the newest interaction, the most messages, or the highest cost first. */
export const SESSION_ORDERS = ["time", "size", "cost"] as const;
export type SessionOrder = (typeof SESSION_ORDERS)[number];

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

/**
 * What an acknowledged write survives: a loss of power, or the death of the process but not that of
 * the machine.
 */
export const DURABILITIES = ["power-loss", "process"] as const;
export type Durability = (typeof DURABILITIES)[number];

export const TELEMETRIES = ["off", "spans", "content"] as const;
export type Telemetry = (typeof TELEMETRIES)[number];

/** Stemmers of the index; `simple` does not stem, for any language. */
export const LANGUAGES = ["english", "simple"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The part of tool traffic that is indexed beside the names of tools. */
export const TOOL_INDEXINGS = ["names", "inputs", "all"] as const;
export type ToolIndexing = (typeof TOOL_INDEXINGS)[number];

/** `claw`: claw-code's text in `<summary>` tags; `rich`: Markdown with ledger and citations. */
export const SUMMARY_PROFILES = ["rich", "claw"] as const;
export type SummaryProfile = (typeof SUMMARY_PROFILES)[number];

/** Formats of rendered contexts. */
export const PROVIDERS = [
  "ai-sdk",
  "anthropic",
  "openai-chat",
  "openai-responses",
  "google",
  "mistral",
] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The sessions that a recall searches. */
export const RECALL_SCOPES = ["session", "owner", "tenant"] as const;
export type RecallScope = (typeof RECALL_SCOPES)[number];

/** By the AI SDK's names. */
export const REASONING_EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Lines over 1 MB: `cut` cuts their long values, `skip` skips them whole. */
export const OVERSIZE = ["cut", "skip"] as const;
export type Oversize = (typeof OVERSIZE)[number];

/** The parts of a context. */
export const CONTEXT_PARTS = ["pinned", "summary", "rules", "facts", "recalled", "recent"] as const;

/** Where an accepted rule holds. */
export const RULE_SCOPES = ["project", "owner"] as const;
export type RuleScope = (typeof RULE_SCOPES)[number];
