/**
 * `since` and `until` mean the same on every surface: days are local and count whole on either end, a
 * timestamp is exact, `since` inclusive and `until` exclusive.
 */

import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { type ServerNode, startNode } from "./server/node.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { callFull, connectHttp } from "./support/mcp-client.ts";

/** Ahead of UTC and behind it; in Auckland, the day of the test has 25 hours. */
const ZONES = ["Pacific/Auckland", "America/New_York"] as const;

/** The local day and time of an instant, by another implementation of time zones than `Date`. */
function localOf(time: number, zone: string): string {
  const parts = {
    dateStyle: "short",
    timeStyle: "medium",
    hourCycle: "h23",
    timeZone: zone,
  } as const;
  const text = new Intl.DateTimeFormat("sv-SE", parts).format(time);
  return text.replace(" ", "T");
}

/** The instant of a local time: offsets are whole quarters of an hour. */
function instantOf(local: string, zone: string): number {
  const utc = Date.parse(`${local}Z`);
  const wanted = local.slice(0, 19);
  for (let quarters = -56; quarters <= 56; quarters++) {
    const time = utc + quarters * 900_000;
    if (localOf(time, zone) === wanted) return time;
  }
  throw new Error(`${local} does not exist in ${zone}`);
}

/** The moments of the sessions, each called by its local time. */
const MOMENTS = [
  "2026-04-04T23:59:59.999",
  "2026-04-05T00:00:00.000",
  "2026-04-05T12:00:00.000",
  "2026-04-05T23:59:59.999",
  "2026-04-06T00:00:00.000",
  "2026-05-01T00:00:00.000",
] as const;

interface Period {
  readonly since?: string;
  readonly until?: string;
}

const PERIODS: readonly Period[] = [
  { until: "2026-04-04" },
  { until: "2026-04-05" },
  { since: "2026-04-05" },
  { since: "2026-04-05", until: "2026-04-05" },
  { until: "2026-04" },
  { since: "2026-05", until: "2026" },
  // Timestamps: local without an offset.
  { until: "2026-04-05T12:00:00" },
  { since: "2026-04-05T12:00:00" },
  { since: "2026-04-05T12:00:00", until: "2026-04-06T00:00:00" },
];

/** The truth: a comparison of the names of the moments. */
function within({ since = "", until = "9999" }: Period): string[] {
  const isDay = !until.includes("T");
  return MOMENTS.filter((moment) => {
    const isUntil = isDay ? moment.slice(0, until.length) <= until : moment < until;
    return moment >= since && isUntil;
  });
}

type Find = (period: Period) => Promise<string[] | number>;

describe.each(ZONES)("in %s", (zone) => {
  const folder = createFolder(afterAll);
  const db = join(folder, "store.db");
  let node: ServerNode;
  let mcp: Client;
  beforeAll(async () => {
    await using engine = await open(db, { inThread: true });
    for (const [i, moment] of MOMENTS.entries()) {
      const createdAt = instantOf(moment, zone);
      const session = await engine.createSession({
        id: `${i}`,
        agent: "coder",
        createdBy: "ana",
        title: "Beacons",
        startedAt: createdAt,
      });
      const input = { command: "make beacon" };
      await session.append([
        { role: "user", actor: "ana", content: "Light the beacon", createdAt },
        {
          role: "assistant",
          actor: "coder",
          content: "The beacon is lit",
          toolCalls: [
            { id: "a", name: "Bash", input },
            { id: "b", name: "Edit", input: { file_path: "/srv/beacon.ts" } },
          ],
          createdAt,
        },
        { role: "tool", toolResults: [{ id: "a", output: "lit" }], createdAt },
      ]);
    }
    node = await startNode(["--db", db], { TZ: zone });
    mcp = await connectHttp(new URL(`${node.url}/mcp`), "2026-07-28");
  });
  afterAll(async () => {
    await mcp.close();
    await node.stop();
  });

  const cli = async (...args: readonly string[]) => {
    const ran = await callCli([...args, "--json"], {
      env: { HOME: folder, BACKSCROLL_DB: db, TZ: zone },
    });
    return ran.stdout === "" ? {} : JSON.parse(ran.stdout);
  };
  const words = ({ since, until }: Period) => [
    ...(since === undefined ? [] : ["--since", since]),
    ...(until === undefined ? [] : ["--until", until]),
  ];
  const typed = ({ since, until }: Period) =>
    `beacon ${since === undefined ? "" : `since:${since}`} ${until === undefined ? "" : `until:${until}`}`;
  const rest = async (path: string, period: Period, more: object = {}) => {
    const query = new URLSearchParams({ ...more, ...period } as Record<string, string>);
    const answer = await fetch(`${node.url}${path}?${query}`);
    expect(answer.status, await answer.clone().text()).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    return (await answer.json()) as any;
  };
  const tool = async (name: string, period: Period, more: object = {}) =>
    (await callFull(mcp, name, { ...more, ...period })).data;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  type Any = any;
  const momentsOf = (sessions: Any[] = []) =>
    sessions.map((each) => MOMENTS[Number(each.session_id ?? each.session?.id ?? each.id)]).sort();

  const surfaces: readonly (readonly [string, Find])[] = [
    ["list", async (period) => momentsOf((await cli("list", ...words(period))).sessions)],
    ["search", async (period) => momentsOf((await cli("search", "beacon", ...words(period))).hits)],
    ["a query", async (period) => momentsOf((await cli("search", typed(period))).hits)],
    ["stats", async (period) => (await cli("stats", ...words(period))).total.sessions],
    ["recap", async (period) => momentsOf((await cli("recap", ...words(period))).sessions)],
    [
      "trace of a command",
      async (period) =>
        momentsOf((await cli("trace", "--command", "make beacon", ...words(period))).sessions),
    ],
    [
      "trace of a file",
      async (period) =>
        momentsOf((await cli("trace", "--file", "/srv/beacon.ts", ...words(period))).sessions),
    ],
    [
      "GET /v1/sessions",
      async (period) => momentsOf((await rest("/v1/sessions", period)).sessions),
    ],
    [
      "GET /v1/search",
      async (period) => momentsOf((await rest("/v1/search", period, { q: "beacon" })).hits),
    ],
    [
      "a query over REST",
      async (period) => momentsOf((await rest("/v1/search", {}, { q: typed(period) })).hits),
    ],
    ["GET /v1/stats", async (period) => (await rest("/v1/stats", period)).total.sessions],
    ["GET /v1/facets", async (period) => (await rest("/v1/facets", period)).sessions],
    ["GET /v1/recap", async (period) => momentsOf((await rest("/v1/recap", period)).sessions)],
    ["GET /v1/review", async (period) => momentsOf((await rest("/v1/review", period)).sessions)],
    [
      "GET /v1/trace",
      async (period) =>
        momentsOf((await rest("/v1/trace", period, { command: "make beacon" })).sessions),
    ],
    [
      "list_sessions",
      async (period) =>
        momentsOf((await tool("list_sessions", period, { sub_agents: true })).sessions),
    ],
    [
      "search_sessions",
      async (period) =>
        momentsOf((await tool("search_sessions", period, { query: "beacon" })).hits),
    ],
    ["MCP's recap", async (period) => momentsOf((await tool("recap", period)).sessions)],
    [
      "MCP's trace",
      async (period) =>
        momentsOf((await tool("trace", period, { command: "make beacon" })).sessions),
    ],
  ];

  test.each(surfaces)("%s", async (_name, find) => {
    for (const period of PERIODS) {
      const truth = within(period);
      const found = await find(period);
      expect(found, JSON.stringify(period)).toEqual(
        typeof found === "number" ? truth.length : truth,
      );
    }
  });
});
