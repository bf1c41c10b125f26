/** Metrics of a server in Prometheus' text format. No content, no ids, no tenants' names. */

import type { Engine } from "../engine/engine.ts";
import type { Subscribers } from "./live.ts";
import type { Budget } from "./load/budget.ts";

/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

interface Series {
  readonly labels: string;
  readonly buckets: number[];
  count: number;
  sum: number;
}

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
  readonly type?: "gauge" | "counter";
}

export class Metrics {
  readonly #series = new Map<string, Series>();

  /** `route` is the pattern, never the path: a path names sessions. */
  record(method: string, route: string, status: number, seconds: number): void {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    let series = this.#series.get(labels);
    if (series === undefined) {
      series = { labels, buckets: BUCKETS.map(() => 0), count: 0, sum: 0 };
      this.#series.set(labels, series);
    }
    series.count++;
    series.sum += seconds;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  text(gauges: readonly Gauge[]): string {
    const name = "backscroll_http_request_duration_seconds";
    const lines = [
      `# HELP ${name} How long requests took, by route and status.`,
      `# TYPE ${name} histogram`,
    ];
    for (const { labels, buckets, count, sum } of this.#series.values()) {
      let total = 0;
      for (const [i, bound] of BUCKETS.entries()) {
        total += buckets[i] ?? 0;
        lines.push(`${name}_bucket{${labels},le="${bound}"} ${total}`);
      }
      lines.push(
        `${name}_bucket{${labels},le="+Inf"} ${count}`,
        `${name}_sum{${labels}} ${sum}`,
        `${name}_count{${labels}} ${count}`,
      );
    }
    for (const { name, help, value, type = "gauge" } of gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

export async function serverGauges(
  engine: Engine,
  live: Subscribers,
  { used }: Budget,
): Promise<Gauge[]> {
  const { tenants, databaseBytes, walBytes, followers } = await engine.status();
  const total = (pick: (tenant: (typeof tenants)[number]) => number) =>
    tenants.reduce((sum, tenant) => sum + pick(tenant), 0);
  const worst = (pick: (follower: (typeof followers)[number]) => number) =>
    Math.max(0, ...followers.map(pick));
  const gauge = (name: string, help: string, value: number): Gauge => ({
    name: `backscroll_${name}`,
    help,
    value,
  });
  return [
    gauge("tenants", "Tenants in the store.", tenants.length),
    gauge(
      "sessions",
      "Sessions in the store.",
      total((tenant) => tenant.sessions),
    ),
    gauge(
      "messages",
      "Messages in the store.",
      total((tenant) => tenant.messages),
    ),
    gauge(
      "pending_messages",
      "Messages that are being written.",
      total((tenant) => tenant.pending),
    ),
    gauge(
      "index_lag",
      "Changes in the tail: not in a segment of the index yet.",
      total((tenant) => tenant.index.lag),
    ),
    gauge("database_bytes", "Bytes of the database, without its log.", databaseBytes),
    gauge("wal_bytes", "Bytes of the write-ahead log.", walBytes),
    gauge("followers", "Followers that reads may run on.", followers.length),
    gauge(
      "followers_there",
      "Followers that answered the last probe.",
      followers.filter(({ isThere }) => isThere).length,
    ),
    gauge(
      "follower_lag_seconds",
      "Replication lag of the slowest follower, in seconds.",
      worst(({ lagMs }) => lagMs) / 1_000,
    ),
    gauge(
      "follower_changes_behind",
      "Changes that the slowest follower lacks.",
      worst(({ behind }) => behind),
    ),
    gauge("requests_in_progress", "Admitted requests without an answer.", used.requests),
    gauge("body_bytes_in_progress", "Bytes of bodies that are held in memory.", used.bytes),
    gauge("subscribers", "Callers that follow the change feed.", live.count),
    {
      ...gauge(
        "subscribers_dropped_total",
        "Subscribers dropped because they stalled.",
        live.dropped,
      ),
      type: "counter",
    },
    gauge("resident_bytes", "Memory that the process holds.", process.memoryUsage.rss()),
  ];
}
