/**
 * The filters of sessions: a row has the calls that take it, and its names on every surface.
 *
 * The types of the calls, their inputs and checks, the REST parameters, the client, the options of
 * the command line, the words of queries, the conditions of both databases, the fields of MCP tools
 * and the tables in docs/ derive from it.
 *
 * - `of`: the calls. Of a text, `list` takes one value, `search`, `trace` and `related` several.
 * - `kind`: of its values, as in `inputs/`; without one, a text.
 * - `column`: where it equals a column of `sessions`, or of the `table` with rows of sessions.
 *   Without one, each backend has its own condition.
 * - `onAppend`: an append may change whether a session meets it.
 * - `word`: in the text of a query, of letters only.
 * - `bound`: the limit of its values over REST; `about`: its description there.
 * - `help`: its option of the command line, if it has one; `flag`: of another name; `value`: of
 *   another placeholder than NAME.
 * - `mcp`: its description for models, in the tools that search, list, recap and trace.
 */

import type { TypeOf } from "./inputs/kinds.ts";

const EVERY = ["list", "search", "facets", "stats", "recap", "review", "trace", "related"] as const;
const NOT_STATS = ["list", "search", "facets", "recap", "review", "trace", "related"] as const;
const LISTS = ["list", "search", "facets"] as const;

export const SESSION_FILTERS = {
  agent: {
    of: EVERY as typeof EVERY,
    column: "agent",
    word: "agent",
    help: "Only this agent's sessions.",
    mcp: "Only sessions of this agent, such as claude-code.",
  },
  owner: {
    of: NOT_STATS as typeof NOT_STATS,
    column: "owner",
    help: "Only this owner's sessions.",
  },
  participant: {
    of: LISTS as typeof LISTS,
    table: "participants",
    column: "actor",
    onAppend: true,
    help: "Only sessions in which this actor took part.",
  },
  /** Only this project, by its id. */
  projectId: { of: ["list", "stats"], column: "project_id" },
  /** A project's id, or the end of its path. */
  project: {
    of: EVERY as typeof EVERY,
    word: "project",
    bound: "path",
    about: "Its id, or the end of its path.",
    help: "Only this project: its folder's name, the end of its path, or its id.",
    mcp: "Only this project: its folder, the end of its path, or its id.",
  },
  /** A repository's remote, or its last parts: `github.com/acme/shop`, `acme/shop`, `shop`. */
  repo: {
    of: EVERY as typeof EVERY,
    word: "repo",
    about: "Its remote, or the last parts of it.",
    help: "Only clones and worktrees of this repository: its remote, or the end of it.",
    mcp: "Only clones and worktrees of this repository, such as acme/shop.",
  },
  workstation: {
    of: EVERY as typeof EVERY,
    column: "workstation",
    word: "workstation",
    value: "ID",
    help: "Only sessions of this workstation.",
    mcp: "Only sessions of this machine.",
  },
  gitBranch: {
    of: ["search"],
    column: "git_branch",
    word: "git",
    help: "Only sessions on this branch of git.",
  },
  /** Sessions with a message of this model. */
  model: {
    of: LISTS as typeof LISTS,
    table: "session_models",
    column: "model",
    onAppend: true,
    word: "model",
    about: "Sessions with a message of this model.",
    help: "Only sessions with a message of this model.",
  },
  source: {
    of: ["list", "search", "facets", "recap", "review"],
    column: "source",
    help: "Only sessions written by this tool.",
  },
  /** Only forks and sub-agents of this session. */
  parentSessionId: {
    of: ["list"],
    flag: "parent",
    value: "ID",
    help: "Only sub-agents and forks of this session.",
  },
  /** True: only sessions of sub-agents; false: none of them. */
  subAgent: {
    of: LISTS as typeof LISTS,
    kind: "flag",
    word: "subagent",
    about: "True: only sessions of sub-agents; false: none of them.",
    flag: "sub-agents",
    help: "Only sessions of sub-agents.",
  },
  session: {
    of: ["list", "search"],
    column: "id",
    value: "ID",
    help: "Only this session.",
  },
  /** Sessions to leave out, such as the caller's own. */
  excludeSession: {
    of: ["search", "trace"],
    column: "id",
    flag: "exclude",
    value: "ID",
    help: "Leave this session out.",
  },
  /** A part of the title, ignoring case. */
  title: {
    of: ["list", "recap"],
    bound: "text",
    value: "TEXT",
    help: "Only titles that contain this, ignoring case.",
  },
  /** A prefix of the origin's key. */
  keyPrefix: { of: ["list"], bound: "path", about: "The beginning of the origin's key." },
} as const;

type Filters = typeof SESSION_FILTERS;
export type SessionFilterName = keyof Filters;

/** A call that takes filters. */
export type FilteredCall = (typeof EVERY)[number];

export type FilterKind = "count" | "flag" | "time";

/** The filters that a call takes. */
export type FiltersOf<Call extends FilteredCall> = {
  [Name in SessionFilterName]: Call extends Filters[Name]["of"][number] ? Name : never;
}[SessionFilterName];

/** The kinds of a call's filters, for its table of inputs. */
export type FilterKinds<Call extends FilteredCall> = {
  readonly [Name in FiltersOf<Call>]: Filters[Name] extends { kind: infer Kind }
    ? Kind
    : Call extends "search" | "trace" | "related"
      ? "text|texts"
      : "text";
};

/** The filters of a call as fields that may be absent. */
export type FilterFields<Call extends FilteredCall> = {
  readonly [Name in FiltersOf<Call>]?: TypeOf<FilterKinds<Call>[Name]>;
};

/** The same as stores take them: times in epoch milliseconds, and flags as 0 or 1. */
export type StoredFields<Call extends FilteredCall> = {
  readonly [Name in FiltersOf<Call>]?: Stored<FilterFields<Call>[Name]>;
};
export type Stored<Value> = Exclude<
  Value extends Date | boolean ? number : Value,
  readonly string[]
>;

/** A row in the generic form that iterations use. */
export interface SessionFilterRow
  extends Readonly<Partial<Record<"column" | "table" | "word" | "about", string>>>,
    Readonly<Partial<Record<"flag" | "value" | "help" | "mcp", string>>> {
  readonly of: readonly FilteredCall[];
  readonly kind?: FilterKind;
  readonly onAppend?: true;
  readonly bound?: "path" | "text";
}

/** Empty for a name that is no filter. */
export function filterRow(name: string): Partial<SessionFilterRow> {
  return SESSION_FILTERS[name as SessionFilterName] ?? {};
}

/** The filters of a call, in the order of the table. */
export function filtersOf<Call extends FilteredCall>(
  call: Call,
): readonly (readonly [FiltersOf<Call>, SessionFilterRow])[] {
  const rows = Object.entries<SessionFilterRow>(SESSION_FILTERS);
  return rows.filter(([, row]) => row.of.includes(call)) as never;
}

/** A value for each filter of a call. */
export function eachFilter<Call extends FilteredCall, const Value>(
  call: Call,
  make: (row: SessionFilterRow, name: FiltersOf<Call>) => Value,
): Readonly<Record<FiltersOf<Call>, Value>> {
  const rows = filtersOf(call).map(([name, row]) => [name, make(row, name)] as const);
  return Object.fromEntries(rows) as Record<FiltersOf<Call>, Value>;
}

export function filterKinds<Call extends FilteredCall>(call: Call): FilterKinds<Call> {
  const text = ["search", "trace", "related"].includes(call) ? "text|texts" : "text";
  return eachFilter(call, ({ kind = text }) => kind) as FilterKinds<Call>;
}
