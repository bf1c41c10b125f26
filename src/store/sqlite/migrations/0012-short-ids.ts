import type { Migration } from "../../migration.ts";

const IS_TYPED = "length(own_id) >= 4 AND own_id NOT GLOB '*[^A-Za-z0-9._-]*'";

/**
 * The short id of each session, unique within its tenant, and the id that its agent knows it by.
 *
 * Stored sessions get the first 8 characters of the agent's id, or more where sessions share them;
 * those without one get the last characters of their own id. A session whose `short_id` is null has
 * its id for one.
 */
export const SHORT_IDS: Migration = {
  version: 12,
  name: "short-ids",
  minReader: 11,
  minWriter: 11,
  sql: `
ALTER TABLE sessions ADD COLUMN own_id TEXT;
ALTER TABLE sessions ADD COLUMN short_id TEXT;
UPDATE sessions SET own_id = CASE
  WHEN instr(origin_key, workstation || ':' || project_id || ':') = 1
    THEN substr(origin_key, length(workstation || ':' || project_id) + 2)
  WHEN instr(origin_key, source || ':') = 1 THEN substr(origin_key, length(source) + 2) END
WHERE origin_key IS NOT NULL;
UPDATE sessions SET own_id = NULL
WHERE length(own_id) > 200 OR own_id = '' OR own_id GLOB 'file-*';
CREATE UNIQUE INDEX sessions_by_short_id ON sessions (tenant, short_id) WHERE short_id IS NOT NULL;
CREATE INDEX sessions_by_own_id ON sessions (tenant, own_id) WHERE own_id IS NOT NULL;
${[8, 10, 13, 18, 23, 36].map((length) => fillWith(`substr(own_id, 1, ${length})`, IS_TYPED)).join("\n")}
${fillWith("lower(substr(id, -8))", "length(id) >= 8 AND id NOT GLOB '*[^A-Za-z0-9]*'")}
`,
};

/** Of sessions that share a candidate the first gets it. */
function fillWith(candidate: string, condition: string): string {
  return `UPDATE sessions SET short_id = found.short FROM (
    SELECT tenant, session, ${candidate} AS short,
      row_number() OVER (PARTITION BY tenant, ${candidate} ORDER BY session) AS nth
    FROM sessions WHERE short_id IS NULL AND ${condition}) AS found
  WHERE found.nth = 1 AND found.tenant = sessions.tenant AND found.session = sessions.session
    AND NOT EXISTS (SELECT 1 FROM sessions other
      WHERE other.tenant = found.tenant AND other.short_id = found.short);`;
}
