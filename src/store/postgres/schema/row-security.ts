/**
 * Row-level security separates tenants even if a statement omits the tenant: a transaction sees the
 * rows of the tenant in `backscroll.tenant`, and none without it. `tenants` maps names to numbers
 * and stays open.
 *
 * A token is looked up before its tenant is known, so the row whose id the transaction has set is
 * visible too.
 */
export const ROW_SECURITY: string = `
-- Once set, the setting is an empty string in later transactions, not null.
DO $security$
DECLARE
  keyed text;
BEGIN
  FOREACH keyed IN ARRAY ARRAY[
    'sessions', 'session_state', 'participants', 'chains', 'entries', 'blobs',
    'entry_blobs', 'streams', 'stream_chunks', 'idempotency', 'memories', 'facts',
    'changes', 'tombstones', 'records', 'index_manifest', 'index_segments', 'index_blobs',
    'session_models', 'ingested_files', 'originals', 'original_parts', 'original_sessions',
    'access_tokens', 'routes', 'route_sessions']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', keyed);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', keyed);
    -- A plan that is made once for all tenants must suit the large ones. Among thousands of small ones
    -- the planner takes all rows of a tenant for one row, and reads them where a key would do.
    EXECUTE format('ALTER TABLE %I ALTER COLUMN tenant SET (n_distinct = 100)', keyed);
    EXECUTE format('CREATE POLICY own_tenant ON %I
      USING (tenant = nullif(current_setting(''backscroll.tenant'', true), '''')::bigint)', keyed);
  END LOOP;
END
$security$;

CREATE POLICY named_token ON access_tokens FOR SELECT
  USING (id = current_setting('backscroll.token', true));
`;
