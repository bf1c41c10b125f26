/** Shapes of the store's answers: status, index, deletions, sweeps, verification. */

import { BACKENDS } from "../inputs/choices.ts";

const RANGE = { from: "count", to: "count" } as const;

export const VECTOR_STATUS = {
  embedder: "text",
  dimensions: "count",
  /** The embedded position of the feed. */
  through: "count",
  /** Changes after it, which are embedded in the background. */
  lag: "count",
  /** Ranges before it, which are embedded only on request. */
  gaps: [RANGE as typeof RANGE],
  vectors: "count",
  segments: "count",
  bytes: "count",
} as const;

/** Of a tenant's status. */
export const INDEX_SUMMARY = {
  /** Unindexed changes: a search reads them from the feed. */
  lag: "count",
  segments: "count",
  documents: "count",
  bytes: "count",
  /** Progress of vectors; null: the store has none. */
  vectors: { of: VECTOR_STATUS as typeof VECTOR_STATUS, null: true },
} as const;

export const INDEX_STATUS = {
  /** Unindexed changes: a search reads them from the feed. */
  lag: "count",
  segments: "count",
  documents: "count",
  bytes: "count",
  /** Progress of vectors; null: the store has none. */
  vectors: { of: VECTOR_STATUS as typeof VECTOR_STATUS, null: true },
  /** The manifest's version. */
  version: "count",
  /** The indexed position of the feed, and the feed's end. */
  through: "count",
  head: "count",
  /** The part of these bytes that only phrase queries need. */
  positionBytes: "count",
  /** Deleted sessions that segments may still hold. */
  dead: "count",
  /** The versions of the analyser that built the segments. */
  analyzers: ["text"],
  /** The holder of the index lease. */
  holder: "text|null",
  /** The failure of this process's last maintenance step. */
  failure: "text?",
} as const;

export const QUOTA = {
  maxSessions: "count|null",
  maxEntries: "count|null",
  maxContentBytes: "count|null",
} as const;

export const TENANT_STATUS = {
  tenant: "text",
  sessions: "count",
  entries: "count",
  messages: "count",
  contentBytes: "count",
  /** Open messages, including those of dead writers. */
  pending: "count",
  memories: "count",
  facts: "count",
  feedPosition: "count",
  feedHead: "text",
  index: INDEX_SUMMARY as typeof INDEX_SUMMARY,
  quota: QUOTA as typeof QUOTA,
} as const;

/** A follower, as seen by a node that reads there. */
export const FOLLOWER_STATUS = {
  address: "text",
  /** It answered the last probe, at most two seconds ago. */
  isThere: "flag",
  /** Changes of all tenants that it lacks. */
  behind: "count",
  /** How long it has lacked the oldest of them. */
  lagMs: "count",
} as const;

const LOSSES = ["log", "index", "failover"] as const;

/** A loss: `commits` and `kept` are of a log, `tenant` and `changes` of the others. */
export const LOSS = {
  kind: { one: LOSSES as typeof LOSSES },
  foundAt: "time",
  commits: "count?",
  /** The file that holds the whole log; null if it could not be kept. */
  kept: { of: "text|null", absent: true },
  tenant: "text?",
  changes: "count?",
} as const;

export const STORE_STATUS = {
  backend: { one: BACKENDS as typeof BACKENDS },
  address: "text",
  schemaVersion: "count",
  epoch: "text",
  /** Bytes on disk, the write-ahead log apart. */
  databaseBytes: "count",
  walBytes: "count",
  /** Unacknowledged losses; on PostgreSQL those that this process has met. */
  losses: [LOSS as typeof LOSS],
  /** The followers for reads: none without `replicas`. */
  followers: [FOLLOWER_STATUS as typeof FOLLOWER_STATUS],
  tenants: [TENANT_STATUS as typeof TENANT_STATUS],
} as const;

/** The tombstone of a deleted session. */
export const TOMBSTONE = {
  sessionId: "text",
  originKey: "text|null",
  entryCount: "count",
  /** SHA-256 over the hashes of its entries in the order of their sequence, in hexadecimal digits. */
  digest: "text",
  reason: "text",
  deletedAt: "time",
} as const;

export const DERIVED = {
  /** Direct and indirect forks, nearest first. */
  forks: ["text"],
  /** Memories whose metadata names it as `sessionId`. */
  memories: [{ agent: "text", name: "text" }],
  /** Facts and summaries inside it, which are deleted with it. */
  facts: "count",
  hasSummary: "flag",
} as const;

/** A complete sweep. */
export const SWEEP = {
  deletedSessions: [{ tenant: "text", sessionId: "text" }],
  abortedMessages: [{ tenant: "text", entryId: "text" }],
  forgottenKeys: "count",
  collectedBlobs: "count",
  /** Expired records. */
  deletedRecords: "count",
  /** Entries of interrupted erasures. */
  erasedEntries: "count",
} as const;

export const VERIFY_REPORT = {
  ok: "flag",
  tenants: "count",
  sessions: "count",
  entries: "count",
  changes: "count",
  /** Findings of the database's own file check, as `checkIntegrity` gives them. */
  damage: ["text"],
  /** The first thousand; the tenant is `(all)` for the whole store. */
  problems: [{ tenant: "text", sessionId: "text|null", entryId: "text|null", problem: "text" }],
  /** The number of problems, unlisted ones included. */
  problemCount: "count",
  /** The verified feed heads by tenant: keep them to detect a later truncation. */
  heads: "texts",
} as const;

/** The checkpoint of an ingested file: whether to read it again, and from where. */
export const INGESTED_FILE = {
  path: "text",
  /** The format that it was read as. */
  source: "text",
  size: "count",
  /** In microseconds, which a number holds exactly; nanoseconds would exceed 2^53. */
  mtimeUs: "count",
  /** The end of the last complete line, and the number of lines before it. */
  offset: "count",
  lines: "count",
  /** Hash of bytes before `offset`; null if the file can only be read whole. */
  tailHash: "bytes|null",
  /** The reader's resume state, as JSON text; null if it needs the whole file. */
  state: "text|null",
  /** By the host's clock. */
  seenAt: "time",
} as const;

/** A range of an original's bytes, compressed as one. */
export const ORIGINAL_RANGE = { start: "count", size: "count" } as const;

/** Metadata of an ingested file's original bytes, kept for later versions of its reader. */
export const ORIGINAL = {
  workstation: "text",
  path: "text",
  /** The format that the file was read as. */
  source: "text",
  /** The version of the reader that derived the sessions. */
  reader: "count",
  /** Bytes of the file. */
  size: "count",
  mtimeUs: "count",
  /** In order of `start`, without a gap. */
  parts: [ORIGINAL_RANGE as typeof ORIGINAL_RANGE],
  /** The sessions that were derived from the file. */
  sessionIds: ["text"],
} as const;

/** A public link to one session. */
export const SHARE = {
  id: "text",
  sessionId: "text",
  /** The actor that created the share; null if the host did. */
  sharedBy: "text|null",
  createdAt: "time",
  expiresAt: "time",
} as const;

/** What a row of a nested list stands for. */
export const NESTED = {
  subAgents: { of: "count", about: "Sessions of its sub-agents." },
  /** Sessions of the same request, which a machine made again and again. */
  repeats: { of: ["text"], about: "The ids of the runs that were folded into it." },
} as const;

export const FACET_COUNT = { value: "text", count: "count" } as const;

/** At most 50 values per filter, most frequent first. */
export const FACETS = {
  /** Counted sessions. */
  sessions: { of: "count", about: "Sessions that were counted." },
  /** True: the limit was reached, so more sessions exist. */
  more: { of: "flag", about: "There are sessions that were not counted." },
  agent: {
    of: [FACET_COUNT as typeof FACET_COUNT],
    about: "By agent. Each list has at most 50 values, the most frequent first.",
  },
  /** By project path. */
  project: { of: [FACET_COUNT as typeof FACET_COUNT], about: "By the project's path." },
  workstation: { of: [FACET_COUNT as typeof FACET_COUNT], about: "By workstation." },
  repo: { of: [FACET_COUNT as typeof FACET_COUNT], about: "By repository." },
  source: { of: [FACET_COUNT as typeof FACET_COUNT], about: "By the tool that wrote the session." },
  model: {
    of: [FACET_COUNT as typeof FACET_COUNT],
    about: "By model. A session counts for each that it used.",
  },
  /** Empty without a query: a list reads no messages. */
  role: {
    of: [FACET_COUNT as typeof FACET_COUNT],
    about: "By the role of the found message; empty without a query.",
  },
  /** Sessions with an interaction within the last `1d`, `7d`, `30d` and `365d`. */
  since: {
    of: [FACET_COUNT as typeof FACET_COUNT],
    about: "Sessions with an interaction within the last 1d, 7d, 30d and 365d.",
  },
} as const;
