/**
 * The filters of sessions: a row has the calls that take it, and its names on every surface.
 *
 * The types of the calls, their inputs, the REST parameters, the flags of the command line, the
 * words of queries and the conditions of both databases derive from it.
 *
 * - `of`: the calls. `list` takes one value, `search`, `trace` and `related` take several.
 * - `column`: where it equals a column of `sessions`, or of the `table` with rows of sessions.
 *   Without one, each backend has its own condition.
 * - `scope`: its name in the scope of a search; `word`: in the text of a query.
 * - `bound`: the limit of its values over REST; `about`: its description there.
 * - `flag`, `value`, `help`: its option of the command line.
 */

const EVERY = ["list", "search", "facets", "stats", "recap", "review", "trace", "related"] as const;
const NOT_STATS = ["list", "search", "facets", "recap", "review", "trace", "related"] as const;
const LISTS = ["list", "search", "facets"] as const;

export const SESSION_FILTERS = {
  agent: {
    of: EVERY as typeof EVERY,
    column: "agent",
    scope: "agents",
    word: "agent",
    value: "NAME",
    help: "Only this agent's sessions.",
  },
  owner: {
    of: NOT_STATS as typeof NOT_STATS,
    column: "owner",
    scope: "owners",
    value: "NAME",
    help: "Only this owner's sessions.",
  },
  participant: {
    of: LISTS as typeof LISTS,
    table: "participants",
    column: "actor",
    scope: "participants",
    value: "NAME",
    help: "Only sessions in which this actor took part.",
  },
  projectId: { of: ["list", "stats"], column: "project_id" },
  /** A project's id, or the end of its path. */
  project: {
    of: EVERY as typeof EVERY,
    scope: "projects",
    word: "project",
    bound: "path",
    about: "Its id, or the end of its path.",
    value: "NAME",
    help: "Only this project: its folder's name, the end of its path, or its id.",
  },
  /** A repository's remote, or its last parts: `github.com/acme/shop`, `acme/shop`, `shop`. */
  repo: {
    of: EVERY as typeof EVERY,
    scope: "repos",
    word: "repo",
    about: "Its remote, or the last parts of it.",
    value: "NAME",
    help: "Only clones and worktrees of this repository: its remote, or the end of it.",
  },
  workstation: {
    of: EVERY as typeof EVERY,
    column: "workstation",
    scope: "workstations",
    word: "workstation",
    value: "ID",
    help: "Only sessions of this workstation.",
  },
  gitBranch: {
    of: ["search"],
    column: "git_branch",
    scope: "gitBranches",
    word: "git",
    flag: "git-branch",
    value: "NAME",
    help: "Only sessions on this branch of git.",
  },
  /** Sessions with a message of this model. */
  model: {
    of: LISTS as typeof LISTS,
    table: "session_models",
    column: "model",
    scope: "models",
    word: "model",
    about: "Sessions with a message of this model.",
    value: "NAME",
    help: "Only sessions with a message of this model.",
  },
  source: {
    of: ["list", "search", "facets", "recap", "review"],
    column: "source",
    scope: "sources",
    value: "NAME",
    help: "Only sessions written by this tool.",
  },
  parentSessionId: { of: ["list"], column: "parent_session_id" },
  session: {
    of: ["search"],
    column: "id",
    scope: "sessionIds",
    value: "ID",
    help: "Only this session.",
  },
  /** Sessions to leave out, such as the caller's own. */
  excludeSession: {
    of: ["search", "trace"],
    column: "id",
    scope: "excludedSessionIds",
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

/** The filters that a call takes. */
export type FiltersOf<Call extends FilteredCall> = {
  [Name in SessionFilterName]: Call extends Filters[Name]["of"][number] ? Name : never;
}[SessionFilterName];

/** The filters of a call as fields that may be absent. */
export type FilterFields<Names extends SessionFilterName, Value> = {
  readonly [Name in Names]?: Value;
};

/** A row in the generic form that iterations use. */
export interface SessionFilterRow {
  readonly of: readonly FilteredCall[];
  readonly column?: string;
  readonly table?: string;
  readonly scope?: string;
  readonly word?: string;
  readonly bound?: "path" | "text";
  readonly about?: string;
  readonly flag?: string;
  readonly value?: string;
  readonly help?: string;
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
): Each<Call, Value> {
  const rows = filtersOf(call).map(([name, row]) => [name, make(row, name)] as const);
  return Object.fromEntries(rows) as Each<Call, Value>;
}

export type Each<Call extends FilteredCall, Value> = Record<FiltersOf<Call>, Value>;
