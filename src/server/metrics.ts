/** Metrics in Prometheus' text format. No content, no ids, no tenants' names. */

/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

interface Series {
  readonly labels: string;
  readonly buckets: number[];
  count: number;
  sum: number;
}

export interface Gauge {
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
