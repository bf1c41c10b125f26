/** Questions about commits and lines, and their answers. */

import { RECAP_LINE } from "./context.ts";

/** What git knows of a commit: its changed lines are without their signs. */
export const BLAME_COMMIT = {
  commit: "text",
  subject: "text",
  /** When the change was made; a rebase keeps it. */
  authoredAt: "time",
  committedAt: "time",
  files: [{ path: "text", added: ["text"], removed: ["text"] }],
  /** Sessions that its trailers or notes name, by their agents' ids. */
  named: { of: ["text"], absent: true, about: "Agents' ids that its trailers or notes name." },
} as const;

/** A line of a file, and the commit that it is from. */
export const BLAME_LINE = {
  commit: "text",
  /** In that commit. */
  path: "text",
  /** Now, counted from 1. */
  number: { of: "count", about: "Counted from 1." },
  text: "text",
} as const;

const BLAMED_EDIT = {
  index: { of: "count", wire: "msg_idx" },
  entryId: "text",
  tool: "text",
  /** As the agent gave it; null if a command does not tell it. */
  path: { of: "text|null", about: "As the agent gave it." },
  at: "time",
  lines: { of: "count", about: "The lines of this commit or run that it wrote." },
  total: { of: "count", about: "The lines that it changed." },
} as const;

const BLAMED_TESTS = {
  index: { of: "count", wire: "msg_idx" },
  command: "text",
  passed: "flag|null",
} as const;

export const BLAMED_SESSION = {
  id: "text",
  /** The agent's own id. */
  sourceId: { of: "text|null", about: "The agent's own id." },
  shortId: "text",
  title: "text",
  agent: "text",
  owner: "text|null",
  /** Of the commit's lines; those that others wrote, too, count in part. */
  share: { of: "share", about: "Of the commit's lines; those of several sessions count in part." },
  sure: { one: ["yes", "maybe"] },
  asked: {
    of: RECAP_LINE as typeof RECAP_LINE,
    null: true,
    about: "The last request with content before the edit.",
  },
  because: {
    of: RECAP_LINE as typeof RECAP_LINE,
    null: true,
    about: "A sentence before the edit that names something of its lines.",
  },
  edit: { of: BLAMED_EDIT as typeof BLAMED_EDIT, null: true },
  tests: {
    of: BLAMED_TESTS as typeof BLAMED_TESTS,
    null: true,
    about: "Run after the edit: the last before the next change or request.",
  },
  /** What speaks for it, in words. */
  reasons: { of: ["text"], about: "What speaks for it, in words." },
} as const;

const BLAMED_LINES = { path: "text", first: "count", last: "count" } as const;

export const BLAMED = {
  /** Null: not committed yet. */
  commit: { of: "text|null", about: "Null: not committed yet." },
  subject: "text",
  committedAt: { of: "time|null" },
  lines: { of: BLAMED_LINES as typeof BLAMED_LINES, null: true, about: "Null: a whole commit." },
  /** The surest first; none: no stored conversation wrote it. */
  sessions: { of: [BLAMED_SESSION as typeof BLAMED_SESSION], about: "The surest first." },
} as const;

export const WORK_DIGEST = {
  /** At most 60 lines, secrets masked, without outputs of tools. */
  markdown: { of: "text", about: "At most 60 lines, secrets masked, without outputs of tools." },
  /** 0: no stored conversation wrote any of it. */
  conversations: { of: "count", about: "0: no stored conversation wrote any of it." },
  incomplete: { of: "flag", about: "Some of the store is not indexed for it yet." },
} as const;

/** In the order of the commits or lines. */
export const BLAME = {
  answers: [BLAMED as typeof BLAMED],
  /** True: some of the store is not indexed for it yet, so sessions may be missing. */
  incomplete: { of: "flag", about: "Some of the store is not indexed for it yet." },
} as const;
