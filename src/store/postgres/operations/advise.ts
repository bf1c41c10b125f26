/** Health checks of a server: wrong settings, lag and bloat, with remedies. */

import type { Row } from "../../records.ts";
import { type PostgresConnection, query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";

/** A table with fewer dead rows needs no attention, whatever their share. */
const FEW_DEAD_ROWS = 10_000;
const MOST_DEAD_SHARE = 0.3;
/** The connections of one node: the limit of its pool, and its listener. */
const CONNECTIONS_OF_A_NODE = 11;
const LATE_STANDBY_SECONDS = 30;

const SQL = statements("advise", {
  settings: `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)`,
  connections: `SELECT count(*) AS used FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  /** Columns that the role may not see are null. */
  standbys: `SELECT coalesce(nullif(application_name, ''), 'a standby') AS name, sync_state,
      extract(epoch FROM replay_lag)::float8 AS seconds FROM pg_stat_replication`,
  deadRows: `SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead
    FROM pg_stat_user_tables WHERE schemaname = current_schema()`,
  role: `SELECT pg_is_in_recovery()::int AS is_standby,
      (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)::int AS is_exempt,
      EXISTS (SELECT FROM pg_roles WHERE rolbypassrls AND rolcanlogin AND NOT rolsuper
        AND has_table_privilege(oid, 'entries', 'SELECT'))::int AS has_dumper`,
});

const SETTINGS = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "data_checksums",
  "autovacuum",
  "max_connections",
  "wal_level",
  "archive_mode",
  "hot_standby_feedback",
];

/** Settings and state of a server. */
export interface ServerFacts {
  readonly settings: ReadonlyMap<string, string>;
  readonly isStandby: boolean;
  /** The role bypasses row-level security. */
  readonly isExempt: boolean;
  /** Another role than a superuser may read all rows, for `pg_dump`. */
  readonly hasDumper: boolean;
  readonly connections: number;
  readonly standbys: readonly {
    readonly name: string;
    readonly isSynchronous: boolean;
    readonly lagSeconds: number;
  }[];
  readonly tables: readonly {
    readonly name: string;
    readonly live: number;
    readonly dead: number;
  }[];
}

export async function readFacts(db: PostgresConnection): Promise<ServerFacts> {
  const answers = await db.send([
    query(SQL.settings, SETTINGS),
    query(SQL.connections),
    query(SQL.standbys),
    query(SQL.deadRows),
    query(SQL.role),
  ]);
  const [settings = [], connections = [], standbys = [], tables = [], roles = []] = answers.map(
    ({ rows }): readonly Row[] => rows,
  );
  return {
    settings: new Map(settings.map((row) => [String(row["name"]), String(row["setting"])])),
    isStandby: roles[0]?.["is_standby"] === 1,
    isExempt: roles[0]?.["is_exempt"] === 1,
    hasDumper: roles[0]?.["has_dumper"] === 1,
    connections: Number(connections[0]?.["used"] ?? 0),
    standbys: standbys.map((row) => ({
      name: String(row["name"]),
      isSynchronous: row["sync_state"] === "sync" || row["sync_state"] === "quorum",
      lagSeconds: Number(row["seconds"] ?? 0),
    })),
    tables: tables.map((row) => ({
      name: String(row["name"]),
      live: Number(row["live"]),
      dead: Number(row["dead"]),
    })),
  };
}

/** Sentences: the problem and its remedy. Pure. */
export function adviseOn(facts: ServerFacts): string[] {
  return [...durability(facts), ...recovery(facts), ...standbys(facts), ...maintenance(facts)];
}

function durability({ settings, isExempt }: ServerFacts): string[] {
  const isOff = (name: string) => settings.get(name) === "off";
  const advice: string[] = [];
  if (isOff("fsync")) {
    advice.push("fsync is off: a power cut may destroy the database; set fsync = on");
  }
  if (isOff("full_page_writes")) {
    advice.push(
      "full_page_writes is off: a power cut may leave torn pages; set full_page_writes = on",
    );
  }
  if (isOff("synchronous_commit")) {
    advice.push(
      "synchronous_commit is off: an acknowledged write may be lost with the machine; set synchronous_commit = on",
    );
  }
  if (isOff("data_checksums")) {
    advice.push(
      "the server has no data checksums: disk corruption goes undetected; stop it and run pg_checksums --enable",
    );
  }
  if (isExempt) {
    advice.push(
      "the role is a superuser or has BYPASSRLS, so row-level security does not isolate tenants; use a role with neither",
    );
  }
  return advice;
}

function recovery({ settings, isStandby, isExempt, hasDumper }: ServerFacts): string[] {
  if (isStandby) return [];
  const advice: string[] = [];
  if (!isExempt && !hasDumper) {
    advice.push(
      "row-level security applies to this role, so pg_dump fails with it, and with --enable-row-security it writes no rows and reports success; use backscroll backup, or a role for dumps alone: CREATE ROLE backscroll_dump LOGIN BYPASSRLS; GRANT pg_read_all_data TO backscroll_dump (docs/fleet.md, Backups)",
    );
  }
  if (settings.get("wal_level") === "minimal") {
    advice.push("wal_level is minimal: no standby can follow; set wal_level = replica");
  }
  if (settings.get("archive_mode") === "off") {
    advice.push(
      "archive_mode is off: recovery to a point in time is impossible; archive the WAL (docs/fleet.md, Backups)",
    );
  }
  return advice;
}

function standbys({ settings, isStandby, standbys }: ServerFacts): string[] {
  const advice: string[] = [];
  if (isStandby && settings.get("hot_standby_feedback") === "off") {
    advice.push(
      "hot_standby_feedback is off: the standby cancels reads when the primary removes old rows; set hot_standby_feedback = on",
    );
  }
  if (standbys.length > 0 && !standbys.some(({ isSynchronous }) => isSynchronous)) {
    advice.push(
      "no standby is synchronous: a failover may lose the last writes; set synchronous_standby_names on the primary",
    );
  }
  for (const { name, lagSeconds } of standbys) {
    if (lagSeconds < LATE_STANDBY_SECONDS) continue;
    advice.push(
      `${name} lags ${Math.round(lagSeconds)} s: its reads go to the primary; check its disk, network and long queries`,
    );
  }
  return advice;
}

function maintenance({ settings, connections, tables, isStandby }: ServerFacts): string[] {
  const advice: string[] = [];
  const most = Number(settings.get("max_connections"));
  if (most - connections < CONNECTIONS_OF_A_NODE) {
    advice.push(
      `${connections} of ${most} connections are in use, and a node takes up to ${CONNECTIONS_OF_A_NODE}; raise max_connections, or put a pooler in front`,
    );
  }
  if (settings.get("autovacuum") === "off") {
    advice.push("autovacuum is off: tables and indexes bloat; set autovacuum = on");
  }
  for (const { name, live, dead } of isStandby ? [] : tables) {
    if (dead < FEW_DEAD_ROWS || dead < MOST_DEAD_SHARE * (live + dead)) continue;
    advice.push(
      `${dead} of ${live + dead} rows of the table ${name} are dead; run VACUUM (ANALYZE) ${name}, and lower autovacuum_vacuum_scale_factor for it`,
    );
  }
  return advice;
}
