/**
 * Read positions of transcripts, their bytes, the sessions derived from them, and a view of
 * ingested sessions as rows.
 *
 * A part is a range of a file as one zstd frame with a checksum. Text of more than 4 KB is stored
 * separately and compressed: the view's `content` has its head. SQLite before 3.44 does not support
 * ORDER BY inside an aggregate and would refuse the whole schema: in the view a subquery orders the
 * rows, and its LIMIT prevents flattening.
 */
export const ARCHIVE: string = `
CREATE TABLE ingested_files (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  read_offset INTEGER NOT NULL,
  read_lines INTEGER NOT NULL,
  tail_hash BLOB,
  state BLOB,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITHOUT ROWID;

CREATE TABLE originals (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  reader INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITHOUT ROWID;

CREATE TABLE original_parts (
  tenant INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (tenant, workstation, path, start)
);

CREATE TABLE original_sessions (
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  workstation TEXT NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
) WITHOUT ROWID;
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);

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
`;
