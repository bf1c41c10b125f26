/** Shapes of answers about what a model sees: searches, contexts, compactions, recaps. */

import { BLOCK } from "../block.ts";
import { ENTRY, ROLES, USAGE } from "../entry.ts";
import { CONTEXT_PARTS, HIT_BRANCHES, TRACE_SUBJECTS } from "../inputs/choices.ts";
import { MARK, PLACE } from "../mark.ts";
import { SESSION } from "../session.ts";

const TEXT_RANGE = { start: "count", end: "count" } as const;
const OMISSION_REASONS = ["budget", "recent_turns"] as const;
const SUMMARY_KINDS = ["summary", "compaction"] as const;

export const WINDOW_ITEM = {
  entryId: "text",
  index: { of: "count", wire: "msg_idx" },
  role: { of: { some: ROLES as typeof ROLES }, null: true },
  actor: "text|null",
  createdAt: "time",
  /**
   * At most 1,024 bytes of UTF-8, around the match if there is one; secrets are masked. With the
   * reach `messages`, which only contexts use: at most 4,096 verbatim bytes.
   */
  snippet: "text",
  truncated: "flag",
  toolName: "text|null",
  /** Ranges of the query's words in `snippet`, in UTF-16 units; only for the hit itself. */
  matches: {
    of: [TEXT_RANGE as typeof TEXT_RANGE],
    about: "Where the snippet matches, in UTF-16 units.",
  },
  /** Whether this is the found message. */
  found: { of: "flag", about: "Whether this is the message that was found." },
} as const;

const HIT_META = {
  title: "text",
  agent: "text",
  createdAt: "time",
  updatedAt: "time",
  messageCount: "count",
  /** The session's late files, which are on branches. */
  lateBranches: { of: "count", about: "Late files of the session, which are on branches." },
} as const;

const SUPERSEDED_BY = {
  of: PLACE as typeof PLACE,
  absent: true,
  about: "A later hit that says differently what this one says. Null: none is known.",
} as const;

const HIT_MARK = {
  of: MARK as typeof MARK,
  absent: true,
  about: "A person's word that this message, or its session, does not hold. Null: none.",
} as const;

/** Files of a hit that commits have changed since. */
export const CHANGED_FILES = {
  /** Files that the hit and its window read or changed. */
  touched: "count",
  changed: "count",
  /** The newest of the commits, abbreviated, and its time. */
  commit: "text",
  committedAt: "time",
} as const;

export const SEARCH_HIT = {
  sessionId: "text",
  shortId: "text",
  /** Fields of the session; the title is cut to 256 bytes. */
  meta: HIT_META as typeof HIT_META,
  /** The found message; null if only the title or summary matched. */
  entryId: "text|null",
  /** Its index on the path to `leaf`: `listMessages` takes it as `offset`. */
  index: { of: "count|null", wire: "msg_idx" },
  leaf: "text|null",
  /**
   * Null on the active path. `late`: on the branch of a late file. `left`: on any other branch,
   * such as the one before an edit.
   */
  branch: {
    of: { one: HIT_BRANCHES as typeof HIT_BRANCHES },
    null: true,
    about: "Null on the active path. late: of a file that came late.",
  },
  score: "number",
  /**
   * The cosine of the query with the nearest piece of the session, or of the message if messages of
   * one session are compared; 0 without a vector. Absent: the search was by words only.
   */
  similarity: {
    of: "number?",
    about: "The cosine with the query. Null: searched by words only.",
  },
  /** A later hit that says differently what this one says; absent: none is known. */
  supersededBy: SUPERSEDED_BY as typeof SUPERSEDED_BY,
  /** The mark of the message, else of its session; absent: none. */
  mark: HIT_MARK as typeof HIT_MARK,
  /**
   * The session asks what was searched for, and has no answer of its own: the short ids of others
   * that asked the same, which are no hits. Absent: it says something itself.
   */
  onlyAsked: {
    of: ["text"],
    absent: true,
    about: "It only asked: the short ids of others that asked the same. Null: it says something.",
  },
  /** Only on the command line and in MCP over stdio, in the repository of the hit. */
  changedFiles: {
    of: CHANGED_FILES as typeof CHANGED_FILES,
    absent: true,
    about: "Files of the hit that changed since; for callers in its repository.",
  },
  /** At most 16 messages, including the found one. */
  window: [WINDOW_ITEM as typeof WINDOW_ITEM],
  /** The request that the message answers, or the answer to it. Absent: none, or not asked for. */
  exchange: {
    of: WINDOW_ITEM as typeof WINDOW_ITEM,
    absent: true,
    about: "What the message answers, or the answer to it, with `exchange`.",
  },
  parts: { of: "unknown?", about: "The parts of the score, with `explain`." },
} as const;

const MESSAGE_TYPE = ["message"] as const;

/** A message that a recall found. */
export const RECALLED_MESSAGE = {
  type: { one: MESSAGE_TYPE as typeof MESSAGE_TYPE },
  entry: ENTRY as typeof ENTRY,
  score: "number",
  /** The messages around it, at most 16 with snippets. */
  window: [WINDOW_ITEM as typeof WINDOW_ITEM],
  /** A later message of the answer that says differently what this one says. */
  supersededBy: SUPERSEDED_BY as typeof SUPERSEDED_BY,
  /** The mark of the message, else of its session; absent: none. */
  mark: HIT_MARK as typeof HIT_MARK,
} as const;

export const EXPLANATION = {
  terms: "unknown",
  documents: "count",
  averageLength: "number",
  segments: "count",
  candidates: "count",
} as const;

export const SEARCH_RESULT = {
  /** The best first. */
  hits: [SEARCH_HIT as typeof SEARCH_HIT],
  /** The `cursor` of the next page, up to the 200th hit. Absent: there are no more. */
  nextCursor: { of: "text?", about: "The cursor of the next page; null: there are no more." },
  /** About how many sessions have at least half of the query, by weight; only with `total`. */
  total: {
    of: "count?",
    about: "About how many sessions have most of the query; only with total.",
  },
  /** Notes for the user: ignored words, an invalid filter. */
  notes: { of: ["text"], about: "How the query was interpreted, for a person." },
  /** True: the index is being built, so older messages may be missing. */
  indexing: "flag",
  /** True: part of the index is unreadable, and will be rebuilt. */
  degraded: "flag",
  /** True: the deadline passed. */
  partial: { of: "flag", about: "The time ran out: there may be better hits." },
  explanation: { of: EXPLANATION as typeof EXPLANATION, absent: true },
} as const;

export const CONTEXT_MESSAGE = {
  role: { some: ROLES as typeof ROLES },
  /** The actor, if the message comes from one entry. */
  actor: "text|null",
  /** The part of the context that it belongs to. */
  part: { some: CONTEXT_PARTS as typeof CONTEXT_PARTS },
  blocks: [BLOCK as typeof BLOCK],
  /** The source entries, so that every line can be traced. */
  entryIds: ["text"],
  /** The model that wrote it: its signatures are invalid for other models. */
  model: "text|null",
} as const;

export const OMISSION = {
  part: { some: CONTEXT_PARTS as typeof CONTEXT_PARTS },
  reason: { some: OMISSION_REASONS as typeof OMISSION_REASONS },
  count: "count",
  /** Null for entries that were not read. */
  tokens: "count|null",
  /** The entries or facts, at most 100 of them. */
  ids: ["text"],
} as const;

export const COMPACTION_RESULT = {
  /** The added entry; null if there was too little to compact (`preset` only). */
  entry: { of: ENTRY as typeof ENTRY, null: true },
  /** The text of the summary; null where `entry` is. */
  summary: "text|null",
  /** Entries that the new summary covers beyond the previous one. */
  removed: "count",
  firstKeptEntryId: "text|null",
  tokensBefore: "count",
  tokensAfter: "count",
  /** Entries erased since, by the session's retention. */
  erased: "count",
} as const;

export const SUMMARY = {
  id: "text",
  /** The first and last covered entry. */
  from: "text",
  through: "text",
  text: "text",
  /** The model that wrote it; null for a mechanical summary. */
  model: "text|null",
  tokens: "count",
  /** The summary that replaced it, or that it continues. */
  parent: "text|null",
  /** `compaction` if the context begins with it, else `summary`. */
  kind: { one: SUMMARY_KINDS as typeof SUMMARY_KINDS },
  /** 1: of messages; 2 or more: of summaries. */
  level: "count",
  /** A covered entry was edited or regenerated since. */
  stale: "flag",
  createdAt: "time",
} as const;

export const CONTEXT_USAGE = {
  contextTokens: "count",
  /** The estimated part: entries after the last report. */
  estimatedTokens: "count",
  /** True: no provider reported the current context. */
  estimated: "flag",
  /** The message whose reported usage is the base. */
  reportedBy: "text|null",
  /** The newest compaction on the path. */
  compaction: "text|null",
  /** The sum of all reports, of all branches and calls: for billing, not for pressure. */
  billed: USAGE as typeof USAGE,
} as const;

const CUT = { entryId: "text", toolUseId: "text", keepTokens: "count" } as const;

/** What a compaction would do. */
export const COMPACTION_PLAN = {
  /** The entries that the new summary covers, in order, without pinned ones. */
  covered: ["text"],
  /**
   * Entries before the cut that stay: pinned ones with their tool groups, and user messages that
   * wait behind another user's answer.
   */
  pinned: ["text"],
  from: "text",
  /** The last covered entry: the summary covers up to its sequence, pinned entries aside. */
  through: "text",
  throughSequence: "count",
  /** The first kept entry; null: none. */
  firstKeptEntryId: "text|null",
  /** The cut splits a turn: its head is summarised, its tail stays. */
  splitTurn: "flag",
  tokensBefore: "count",
  /**
   * An estimate until the summary is written. It exceeds the limit only where the pinned part and
   * the pending turn alone do.
   */
  tokensAfter: "count",
  /** Saved tokens. Below 0: the summary is longer than the entries that it covers. */
  gainTokens: "integer",
  /** Tool results to show shortened from now on. The log keeps them whole. */
  cuts: { of: [CUT as typeof CUT], about: "Tool results shown shortened." },
} as const;

/** A branch: its leaf, and the length of its path. */
export const BRANCH = {
  /** Messages on the path from the root to the leaf. */
  messages: "count",
  /** Whether the next append continues this branch. */
  active: "flag",
  /** The leaf, without the payloads of a large message. */
  leaf: ENTRY as typeof ENTRY,
  /** The leaf of the branch this one forked from; null at the root, or if that branch is not listed. */
  parentLeaf: { of: "text|null", about: "The leaf of the branch that it left." },
  /** The index of the first message after the fork. */
  forkIndex: { of: "count", about: "The index of the first message after the fork." },
} as const;

const OUTCOME_WORDS = ["committed", "answered", "unfinished"] as const;

/** How a session ended, as far as it shows: a commit that a person made elsewhere is not seen. */
export const OUTCOME = {
  /**
   * `committed`: what was changed last was committed. `answered`: the last request was answered.
   * `unfinished`: it was not, or the tests failed after the last change. Null: not known.
   */
  word: {
    of: { one: OUTCOME_WORDS as typeof OUTCOME_WORDS },
    null: true,
    about: "How it ended, as far as it shows; null: not known.",
  },
  /** The abbreviated hash of the last commit that it shows. */
  commit: { of: "text|null", about: "The hash of the last commit that it shows." },
  /** Of the commit, else since the last one; scratch files are left out. Null: the end alone was read. */
  filesChanged: {
    of: "count|null",
    about: "Of the commit, else since the last one; null: only the end was read.",
  },
  /** Null: tests did not run after the last change. */
  testsPassed: { of: "flag|null", about: "Null: no tests ran after the last change." },
} as const;

/** A message's text, with its index. */
export const RECAP_LINE = { index: { of: "count", wire: "msg_idx" }, text: "text" } as const;

export const RECAP_COMMAND = {
  index: { of: "count", wire: "msg_idx" },
  text: "text",
  times: "count",
  /** The outcome of the last run; absent if unknown. */
  failed: { of: "flag?", about: "How the last run ended, if it is known." },
} as const;

export const RECAP_FILE = {
  path: "text",
  index: { of: "count", wire: "msg_idx" },
  times: "count",
} as const;

export const SESSION_RECAP = {
  session: SESSION as typeof SESSION,
  /** Messages within the period. */
  messages: { of: "count", about: "Within the period." },
  /** Older messages that were not read. */
  unread: { of: "count", about: "Older ones, which were not read." },
  /** The first request, and the last ones. */
  requests: { of: [RECAP_LINE as typeof RECAP_LINE], about: "The first, and the last ones." },
  requestCount: "count",
  outcome: { of: RECAP_LINE as typeof RECAP_LINE, null: true, about: "The last answer." },
  /** Last changed at the end. */
  filesChanged: [RECAP_FILE as typeof RECAP_FILE],
  filesRead: "count",
  /** Without read-only commands; last run at the end. */
  commands: [RECAP_COMMAND as typeof RECAP_COMMAND],
  lookups: { of: "count", about: "The number of read-only commands." },
  /** The marks of the session and its messages that stand. */
  marks: { of: [MARK as typeof MARK], about: "What does not hold any more." },
} as const;

export const RECAP = {
  sessions: [SESSION_RECAP as typeof SESSION_RECAP],
  /** True: the period has more sessions. */
  more: { of: "flag", about: "There are more sessions in the period." },
  /** The number of omitted sub-agents' sessions. */
  subAgents: { of: "count", about: "Sessions of sub-agents that were left out." },
} as const;

export const RELATED = {
  /** The question, cut to 600 characters; null: the session has none. */
  question: {
    of: "text|null",
    about: "The question that was searched for; null if there is none.",
  },
  /** Similar sessions, best first; none for a question alone. */
  sessions: { of: [SEARCH_HIT as typeof SEARCH_HIT], about: "Sessions like the given one." },
  /** The same question in other sessions, one of each, best first. */
  asked: { of: [SEARCH_HIT as typeof SEARCH_HIT], about: "The same question in other sessions." },
  notes: ["text"],
} as const;

/** The first and last message of some, and their number. */
export const SPAN = { first: "count", last: "count", times: "count" } as const;
const CALL_RESULT = {
  index: { of: "count", wire: "msg_idx" },
  failed: "flag",
  output: "text",
} as const;

export const TRACED_CALL = {
  index: { of: "count", wire: "msg_idx" },
  tool: "text",
  input: "text",
  filesChanged: ["text"],
  filesRead: ["text"],
  commands: ["text"],
  createdAt: "time",
  /** Absent without a known result. */
  result: { of: CALL_RESULT as typeof CALL_RESULT, absent: true },
} as const;

/** The events after an error. */
export const CLEARING = {
  edits: [TRACED_CALL as typeof TRACED_CALL],
  success: {
    of: TRACED_CALL as typeof TRACED_CALL,
    null: true,
    about: "Null if it was never tried again.",
  },
  answer: { of: RECAP_LINE as typeof RECAP_LINE, null: true },
} as const;

/** Fields that a kind does not have are null. */
export const FINDING = {
  kind: { one: TRACE_SUBJECTS as typeof TRACE_SUBJECTS },
  changed: { of: SPAN as typeof SPAN, null: true },
  read: { of: SPAN as typeof SPAN, null: true },
  commands: { of: SPAN as typeof SPAN, null: true, about: "Of a file: commands that name it." },
  runs: { of: SPAN as typeof SPAN, null: true },
  failures: { of: SPAN as typeof SPAN, null: true },
  met: { of: SPAN as typeof SPAN, null: true },
  line: { of: "text|null", about: "The line that reports the error." },
  call: {
    of: TRACED_CALL as typeof TRACED_CALL,
    null: true,
    about: "The last change, run, or call that met the error.",
  },
  asked: { of: "text|null", about: "The request before the last change." },
  cleared: { of: CLEARING as typeof CLEARING, null: true },
} as const;

const SUBJECT = {
  kind: { one: TRACE_SUBJECTS as typeof TRACE_SUBJECTS },
  text: "text",
} as const;

export const TRACED_SESSION = {
  session: SESSION as typeof SESSION,
  finding: {
    of: FINDING as typeof FINDING,
    about: "Fields that its kind does not have are null.",
  },
  otherBranch: {
    of: "flag",
    about: "Only branches other than the active one have it; msg_idx counts along each.",
  },
  /** The marks of the session and its messages that stand. */
  marks: { of: [MARK as typeof MARK], about: "What does not hold any more." },
} as const;

export const TRACE = {
  subject: SUBJECT as typeof SUBJECT,
  more: { of: "count", about: "Further sessions that have it, beyond the limit." },
  unread: {
    of: "count",
    about: "Older sessions that may have it and were not read; 0: the trace is complete.",
  },
  withinWords: {
    of: "flag",
    about: "No session has the text as whole words: it was sought within words, in any case.",
  },
  sessions: [TRACED_SESSION as typeof TRACED_SESSION],
} as const;

/** The command that continues a session in its own agent. */
export const RESUME_COMMAND = {
  /** For a POSIX shell; null if the agent has no such command. */
  command: "text|null",
  /** The folder to run it in: some agents find their sessions by it. */
  folder: "text|null",
  /** The machine that has the agent's files. */
  workstation: "text|null",
} as const;
