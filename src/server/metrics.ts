/** Metrics of a server in Prometheus' text format. No content, no ids, no tenants' names. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Engine } from "../engine/engine.ts";
import { BackscrollError } from "../model/errors.ts";
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
  /** In braces, with a value for each. */
  readonly labels?: string;
}

/** The delays of timers, in a histogram that each reading empties: what one scrape reports is its own. */
const delays = monitorEventLoopDelay({ resolution: 10 });

export class Metrics {
  readonly #series = new Map<string, Series>();
  /** Answers with an error, by its code. */
  readonly #failures = new Map<string, number>();

  constructor() {
    delays.enable();
  }

  recordFailure(failure: unknown): void {
    const code = BackscrollError.is(failure) ? failure.code : "internal_error";
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1);
  }

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
    for (const { name, help, value, type = "gauge", labels = "" } of gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name}${labels} ${value}`);
    }
    const failures = "backscroll_errors_total";
    lines.push(
      `# HELP ${failures} Answers with an error, by its code.`,
      `# TYPE ${failures} counter`,
    );
    for (const [code, count] of this.#failures) lines.push(`${failures}{code="${code}"} ${count}`);
    return `${lines.join("\n")}\n`;
  }
}

function gauge(name: string, help: string, value: number): Gauge {
  return { name: `backscroll_${name}`, help, value };
}

function counter(name: string, help: string, value: number): Gauge {
  return { ...gauge(name, help, value), type: "counter" };
}

/** None for a file. */
function connectionGauges(figures: ReturnType<Engine["connections"]>): readonly Gauge[] {
  if (figures === undefined) return [];
  const { open, idle, waiting, retries } = figures;
  return [
    gauge("connections", "Open connections to the database.", open),
    gauge("connections_idle", "Connections that no caller uses.", idle),
    gauge("connections_waiting", "Callers that wait for a connection.", waiting),
    counter(
      "retries_total",
      "Transactions repeated after a conflict or a lost connection.",
      retries,
    ),
  ];
}

export async function serverGauges(
  engine: Engine,
  live: Subscribers,
  { used }: Budget,
  version: string,
): Promise<Gauge[]> {
  const { tenants, databaseBytes, walBytes, followers } = await engine.status();
  const total = (pick: (tenant: (typeof tenants)[number]) => number) =>
    tenants.reduce((sum, tenant) => sum + pick(tenant), 0);
  const worst = (pick: (follower: (typeof followers)[number]) => number) =>
    Math.max(0, ...followers.map(pick));
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
    counter("subscribers_dropped_total", "Subscribers dropped because they stalled.", live.dropped),
    gauge("resident_bytes", "Memory that the process holds.", process.memoryUsage.rss()),
    gauge(
      "event_loop_lag_seconds",
      "The 99th percentile of the event loop's delays since the last reading.",
      loopDelay(),
    ),
    counter("searches_total", "Searches of this process.", engine.searches.total),
    counter(
      "partial_searches_total",
      "Searches that their deadline cut short.",
      engine.searches.partial,
    ),
    ...connectionGauges(engine.connections()),
    {
      ...gauge("build_info", "The versions that run; always 1.", 1),
      labels: `{version="${version}",node="${process.versions.node}"}`,
    },
  ];
}

function loopDelay(): number {
  const seconds = delays.percentile(99) / 1e9;
  delays.reset();
  // Nothing was measured yet.
  return Number.isFinite(seconds) ? seconds : 0;
}
