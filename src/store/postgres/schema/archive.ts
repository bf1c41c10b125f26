/**
 * Read positions of transcripts, their bytes, the sessions derived from them, and a view of
 * ingested sessions as rows.
 *
 * A part is a range of a file as one zstd frame with a checksum. Text of more than 4 KB is stored
 * separately and compressed: the view's `content` has its head. The view is subject to row-level
 * security.
 */
export const ARCHIVE: string = `
CREATE TABLE ingested_files (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  mtime bigint NOT NULL,
  read_offset bigint NOT NULL,
  read_lines bigint NOT NULL,
  tail_hash bytea,
  state bytea,
  seen_at bigint NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
) WITH (fillfactor = 70);

CREATE TABLE originals (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  reader bigint NOT NULL,
  size bigint NOT NULL,
  mtime bigint NOT NULL,
  PRIMARY KEY (tenant, workstation, path)
);

CREATE TABLE original_parts (
  tenant bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  size bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant, workstation, path, start)
);
ALTER TABLE original_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE original_sessions (
  tenant bigint NOT NULL,
  session bigint NOT NULL,
  workstation text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session, workstation, path)
);
CREATE INDEX original_sessions_by_path ON original_sessions (tenant, workstation, path);

-- The text blocks of a message. What PostgreSQL cannot hold as text (NUL, half a surrogate pair)
-- leaves a message out of the view, and out of nothing else.
CREATE FUNCTION backscroll_message_text(content bytea, label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $text$
DECLARE
  body jsonb;
BEGIN
  body := convert_from(content, 'UTF8')::jsonb;
  RETURN (SELECT string_agg(label || coalesce(b.block #>> '{text,head}', b.block ->> 'text'),
      E'\\n' ORDER BY b.place)
    FROM jsonb_array_elements(CASE jsonb_typeof(body) WHEN 'array' THEN body
      ELSE coalesce(body -> 'blocks', '[]') END) WITH ORDINALITY AS b (block, place)
    WHERE b.block ->> 'type' = 'text');
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END
$text$;

CREATE VIEW indexed_sessions WITH (security_invoker = true) AS
SELECT s.origin_key AS composite_key, s.workstation AS workstation_id, s.project_id,
  substr(s.origin_key, length(s.workstation) + length(s.project_id) + 3) AS session_id,
  s.project_path, s.git_branch, coalesce(s.exchange_count, 0) AS exchange_count,
  coalesce(s.tool_counts, '{}') AS tool_counts,
  (SELECT string_agg(backscroll_message_text(e.content,
        CASE e.role WHEN 'user' THEN 'User: ' ELSE 'Assistant: ' END), E'\\n' ORDER BY e.sequence)
    FROM entries e
    WHERE e.tenant = s.tenant AND e.session = s.session AND e.kind = 'message'
      AND e.role IN ('user', 'assistant') AND e.content IS NOT NULL) AS content,
  s.file_mtime / 1000 AS file_mtime,
  to_timestamp(s.first_msg_at / 1000.0) AS first_msg_at,
  to_timestamp(s.last_msg_at / 1000.0) AS last_msg_at,
  to_timestamp(s.created_at / 1000.0) AS created_at,
  to_timestamp(t.last_write_at / 1000.0) AS updated_at,
  n.name AS tenant
FROM sessions s
JOIN session_state t ON t.tenant = s.tenant AND t.session = s.session
JOIN tenants n ON n.tenant = s.tenant
WHERE s.origin_key IS NOT NULL AND s.workstation IS NOT NULL AND s.project_id IS NOT NULL;
`;
