import { feedPositions } from "../operations/feed.ts";
import type { PostgresConnection } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import { SERVER_RUN } from "../transaction.ts";
import type { FeedMarks } from "./feed-marks.ts";

/**
 * Fencing by timeline: chooses the primary among several servers. Pure.
 *
 * A promotion starts a timeline with a higher number. So a server on a lower timeline than this
 * node has used is a former primary, and is refused. On the same timeline a feed never becomes
 * shorter, so a server with a shorter feed is another copy, and is refused too. On a higher
 * timeline a shorter feed is a loss: the promoted standby had not received the end.
 */

/** A server's reported state. */
export interface ServerReport {
  /** Its place in the address. */
  readonly index: number;
  /** Identifies this run of this server. */
  readonly server: string;
  /** Not in recovery, and not read-only. */
  readonly isWritable: boolean;
  /** Null if the server does not report it. */
  readonly timeline: number | null;
  /** Missing changes per tenant, relative to what this node has seen. */
  readonly behind: ReadonlyMap<string, number>;
}

export type Verdict =
  | { readonly use: ServerReport; readonly isLossy: boolean }
  /** None is usable; `refused` are the writable servers that are behind. */
  | { readonly use: undefined; readonly refused: readonly ServerReport[] };

/** `seen` is the highest timeline that this node has used, or null. */
export function choosePrimary(reports: readonly ServerReport[], seen: number | null): Verdict {
  const writable = reports.filter(({ isWritable }) => isWritable);
  const usable = writable.filter((report) => !isBehind(report, seen));
  const [best] = usable.toSorted((a, b) => timelineOf(b) - timelineOf(a) || a.index - b.index);
  if (best === undefined) return { use: undefined, refused: writable };
  return { use: best, isLossy: best.behind.size > 0 };
}

function isBehind({ timeline, behind }: ServerReport, seen: number | null): boolean {
  if (timeline === null || seen === null) return behind.size > 0;
  return timeline < seen || (timeline === seen && behind.size > 0);
}

function timelineOf({ timeline }: ServerReport): number {
  return timeline ?? 0;
}

const SQL = statements("servers", {
  role: `SELECT ${SERVER_RUN} AS server, pg_is_in_recovery()::int AS is_standby,
      (current_setting('default_transaction_read_only') = 'on')::int AS is_read_only`,
  /** The control file has the new timeline only after the checkpoint that follows a promotion. */
  timeline: `SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
      AS timeline`,
  tables: `SELECT (to_regclass('tenants') IS NOT NULL)::int AS are_there`,
});

export async function askServer(
  connection: PostgresConnection,
  index: number,
  marks: FeedMarks,
): Promise<ServerReport> {
  const [row] = await connection.all(SQL.role);
  const server = String(row?.["server"]);
  const isWritable = row?.["is_standby"] !== 1 && row?.["is_read_only"] !== 1;
  if (!isWritable) return { index, server, isWritable, timeline: null, behind: new Map() };
  const timeline = await readTimeline(connection);
  return { index, server, isWritable, timeline, behind: await behindOf(connection, marks) };
}

/** Null on PostgreSQL-compatible servers with another kind of log. */
async function readTimeline(connection: PostgresConnection): Promise<number | null> {
  try {
    const [row] = await connection.all(SQL.timeline);
    return Number(row?.["timeline"]);
  } catch (error) {
    // Undefined function (42883), unsupported feature (0A000), insufficient privilege (42501).
    const code = (error as { readonly code?: unknown }).code;
    if (code === "42883" || code === "0A000" || code === "42501") return null;
    throw error;
  }
}

/** Missing changes per tenant: how much earlier the known feeds end here. */
async function behindOf(
  connection: PostgresConnection,
  marks: FeedMarks,
): Promise<Map<string, number>> {
  const known = [...marks];
  if (known.length === 0) return new Map();
  const [tables] = await connection.all(SQL.tables);
  const names = known.map(([name]) => name);
  const isStore = tables?.["are_there"] === 1;
  const found = isStore ? await feedPositions(connection, names) : new Map<string, number>();
  return new Map(
    known.flatMap(([name, position]) => {
      const missing = position - (found.get(name) ?? 0);
      return missing > 0 ? [[name, missing] as const] : [];
    }),
  );
}
