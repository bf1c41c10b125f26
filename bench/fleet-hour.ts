/**
 * `bench fleet --only hour`: a steady load by two nodes, and the growth of the database. Prints a line
 * per minute, and one per table at the end.
 */

import type { Fleet } from "../test/support/fleet.ts";
import type { Minute } from "./fleet-hour-node.ts";
import { type Figures, inFreshProcess, percentile, type Report } from "./measure.ts";

const NODES = 2;
const APPENDS_PER_SECOND = 200;
const TENANTS = Array.from({ length: 10 }, (_, n) => `tenant-${n}`);

const SIZES = `SELECT
    sum(pg_table_size(relid))::float8 AS "tableBytes", sum(pg_indexes_size(relid))::float8 AS "indexBytes",
    sum(n_live_tup)::float8 AS "liveTuples", sum(n_dead_tup)::float8 AS "deadTuples",
    sum(n_tup_upd)::float8 AS updates, sum(n_tup_hot_upd)::float8 AS "hotUpdates"
  FROM pg_stat_user_tables`;
/** Includes TOAST tables, which autovacuum treats separately. */
const VACUUMS = `SELECT sum(autovacuum_count)::float8 AS autovacuums,
    sum(autoanalyze_count)::float8 AS autoanalyzes
  FROM pg_stat_all_tables WHERE schemaname IN ('public', 'pg_toast')`;
const WAL = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`;
const SEARCH_INDEX = `SELECT
    (SELECT count(*) FROM index_segments WHERE dropped_at IS NULL)::float8 AS segments,
    (SELECT sum(octet_length(bytes)) FROM index_blobs)::float8 AS "segmentBytes",
    (SELECT max(t.feed_position - coalesce(m.through, 0)) FROM tenants t
      LEFT JOIN index_manifest m USING (tenant))::float8 AS "changesInNoSegment"`;
const STORED = `SELECT sum(feed_position)::float8 AS changes, sum(entry_count)::float8 AS entries
  FROM tenants`;
const TABLES = `SELECT relname AS name, pg_table_size(relid)::float8 AS "tableBytes",
    pg_indexes_size(relid)::float8 AS "indexBytes", n_live_tup::float8 AS "liveTuples",
    n_dead_tup::float8 AS "deadTuples", n_tup_upd::float8 AS updates,
    n_tup_hot_upd::float8 AS "hotUpdates", n_tup_del::float8 AS deletes,
    autovacuum_count::float8 AS autovacuums
  FROM pg_stat_user_tables WHERE n_tup_ins > 0 ORDER BY pg_total_relation_size(relid) DESC`;

export async function benchHour(fleet: Fleet, report: Report, minutes: number): Promise<void> {
  const minuteLines: Figures[] = [];
  const arrived = new Map<number, Minute[]>();
  let gaps = 0;
  let wal = (await one(fleet, WAL))["bytes"] ?? Number.NaN;
  let lines = Promise.resolve();

  const tell = async (minute: number, parts: readonly Minute[]) => {
    const appends = parts.flatMap((part) => part.appends);
    const late = parts.flatMap((part) => part.late);
    const questions = parts.flatMap((part) => part.questions);
    gaps += sum(parts.map((part) => part.gaps));
    const sizes = await one(fleet, SIZES);
    const written = (await one(fleet, WAL))["bytes"] ?? Number.NaN;
    const figures: Figures = {
      minute,
      appendsPerSecond: appends.length / 60,
      appendP50Ms: percentile(appends, 50),
      appendP99Ms: percentile(appends, 99),
      lateP99Ms: percentile(late, 99),
      questionP50Ms: percentile(questions, 50),
      questionP99Ms: percentile(questions, 99),
      changesHeard: sum(parts.map((part) => part.heard)),
      nodeCpuPercent: sum(parts.map((part) => part.cpuMs)) / 600,
      ...sizes,
      walBytes: written - wal,
      ...(await one(fleet, VACUUMS)),
      ...(await one(fleet, SEARCH_INDEX)),
      ...(await one(fleet, STORED)),
      rssBytes: Math.max(...parts.map((part) => part.rssBytes)),
    };
    wal = written;
    minuteLines.push(figures);
    report.measurement("postgres", "hour", 1, figures);
  };

  const ended = await Promise.all(
    Array.from({ length: NODES }, (_, node) => {
      const task = {
        address: fleet.address(0),
        minutes,
        appendsPerSecond: APPENDS_PER_SECOND / NODES,
        tenants: TENANTS,
        seed: node,
      };
      const module = new URL("./fleet-hour-node.ts", import.meta.url);
      return inFreshProcess(module, "keepLoad", task, [], (progress) => {
        const { minute } = progress as Minute;
        const parts = [...(arrived.get(minute) ?? []), progress as Minute];
        arrived.set(minute, parts);
        if (parts.length < NODES) return;
        arrived.delete(minute);
        lines = lines.then(() => tell(minute, parts));
      });
    }),
  );
  await lines;

  for (const { name, ...figures } of await fleet.query(0, TABLES)) {
    report.measurement("postgres", `hour: table ${name}`, 1, figures as Figures);
  }
  const appended = sum(ended.map(({ appended = Number.NaN }) => appended));
  const perSecond = appended / (minutes * 60);
  report.bar("hour: appends a second", perSecond, APPENDS_PER_SECOND * 0.99, true);
  report.bar("hour: changes missing or repeated in a feed", gaps, 0);
  const bytesOf = ({ tableBytes = Number.NaN, indexBytes = Number.NaN, entries = 0 }: Figures) =>
    (tableBytes + indexBytes) / entries;
  const early = minuteLines[Math.floor(minuteLines.length / 6)] ?? {};
  const growth = bytesOf(minuteLines.at(-1) ?? {}) / bytesOf(early);
  report.bar("hour: bytes for each entry, of those after a sixth of the time", growth, 1.2);
  const behind = Math.max(...minuteLines.map((line) => line["changesInNoSegment"] ?? Number.NaN));
  // From here on writers wait (back-pressure).
  report.bar("hour: changes of a tenant in no segment, at most", behind, 10_240);
}

async function one(fleet: Fleet, sql: string): Promise<Figures> {
  const [row = {}] = await fleet.query(0, sql);
  return row as Figures;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
