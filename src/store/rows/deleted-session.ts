/**
 * Soft deletion, then an incremental purge: a long session is deleted in several transactions.
 *
 * The first deletes its row of `session_state`, writes the tombstone and the feed, and marks its row
 * of `sessions` with a TTL of 0, which no live session has: from then on it is not found. The others
 * delete its rows in batches, and the row of `sessions` last, so that any process can resume.
 */

/** Excludes soft-deleted sessions (s), for reads that do not join `session_state`. */
export const IS_THERE = "s.ttl_seconds IS DISTINCT FROM 0";

/** All but the number and the id: the rest may be content, or match a filter. */
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

/** The assignments of the UPDATE that soft-deletes a row of `sessions`. */
export const MARK_DELETED: string = `ttl_seconds = 0, agent = '', created_by = '', owner = '', ${CLEARED.map(
  (column) => `${column} = NULL`,
).join(", ")}`;
