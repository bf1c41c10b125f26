import type { Migration } from "../../migration.ts";

/**
 * Other programs read a store with the SQLite that they have. One before 3.44 does not know ORDER BY
 * inside of an aggregate and refuses the whole schema because of it. Here a subquery has the order; its
 * LIMIT keeps SQLite from flattening it.
 */
export const OLDER_SQLITE: Migration = {
  version: 14,
  name: "older-sqlite",
  minReader: 11,
  minWriter: 13,
  sql: `
DROP VIEW indexed_sessions;
CREATE VIEW indexed_sessions AS
SELECT s.origin_key AS composite_key, s.workstation AS workstation_id, s.project_id,
  substr(s.origin_key, length(s.workstation) + length(s.project_id) + 3) AS session_id,
  s.project_path, s.git_branch, coalesce(s.exchange_count, 0) AS exchange_count,
  coalesce(s.tool_counts, '{}') AS tool_counts,
  (SELECT group_concat(said.line, char(10)) FROM (SELECT
      CASE e.role WHEN 'user' THEN 'User: ' ELSE 'Assistant: ' END
        || coalesce(json_extract(b.value, '$.text.head'), json_extract(b.value, '$.text')) AS line
    FROM entries e, json_each(CASE json_type(CAST(e.content AS TEXT)) WHEN 'array'
      THEN CAST(e.content AS TEXT) ELSE json_extract(CAST(e.content AS TEXT), '$.blocks') END) b
    WHERE e.tenant = s.tenant AND e.session = s.session AND e.kind = 'message'
      AND e.role IN ('user', 'assistant') AND json_extract(b.value, '$.type') = 'text'
    ORDER BY e.sequence, b.key LIMIT -1) said) AS content,
  s.file_mtime / 1000 AS file_mtime,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.first_msg_at / 1000.0, 'unixepoch') AS first_msg_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.last_msg_at / 1000.0, 'unixepoch') AS last_msg_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', s.created_at / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', t.last_write_at / 1000.0, 'unixepoch') AS updated_at,
  n.name AS tenant
FROM sessions s
JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
JOIN tenants n ON n.tenant = s.tenant
WHERE s.origin_key IS NOT NULL AND s.workstation IS NOT NULL AND s.project_id IS NOT NULL;
`,
};
