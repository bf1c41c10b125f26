/**
 * A session that is deleted in several transactions.
 *
 * The first one takes its row of `session_state`, writes the tombstone and the feed, and marks its row
 * of `sessions` with a time to live of 0, which no session can have otherwise. From then on it is not
 * found, and the others delete its rows in pieces. The row of `sessions` goes last: it names what is
 * left, whoever goes on with it.
 */

/** Whether session `s` was not deleted, for reads that do not join `session_state`. */
export const IS_THERE = "s.ttl_seconds IS DISTINCT FROM 0";

/** What the row keeps is its number and its id. The rest may be content, or would take part in filters. */
const CLEARED = [
  "title",
  "title_folded",
  "summary",
  "metadata",
  "retention",
  "parent_session_id",
  "fork_entry_id",
  "source",
  "workstation",
  "project_id",
  "project_path",
  "git_branch",
  "file",
  "origin_key",
  "own_id",
  "short_id",
  "repo",
  "tool_counts",
];

/** The assignments of an UPDATE of `sessions` that marks a row as deleted. */
export const MARK_DELETED: string = `ttl_seconds = 0, agent = '', created_by = '', owner = '', ${CLEARED.map(
  (column) => `${column} = NULL`,
).join(", ")}`;
