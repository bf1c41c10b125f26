/** The gauges of a server. */

import type { Engine } from "../engine/engine.ts";
import type { Subscribers } from "./live/subscribers.ts";
import type { Budget } from "./load/budget.ts";
import type { Gauge } from "./metrics.ts";

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
