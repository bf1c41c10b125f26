/**
 * Token sums, costs and counts of sessions are the same in the files, in the list, in the statistics,
 * over REST and MCP, and in the page.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type RemoteEngine } from "../src/client/index.ts";
import { type Engine, open } from "../src/index.ts";
import { dollars, short } from "../src/page/parts/words.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { CALLERS } from "./support/mcp-callers.ts";
import { callFull, connectHttp } from "./support/mcp-client.ts";
import { type McpHttp, startMcpHttp } from "./support/mcp-http.ts";
import { createDatabase } from "./support/postgres.ts";
import { type Answer, costOfAnswer, isPriced, USAGE_FILES } from "./support/usage-transcripts.ts";

/** The truth: every answer of the files, once. */
const ANSWERS: readonly Answer[] = (() => {
  const answers = new Map<string, Answer>();
  for (const { text, read } of USAGE_FILES) read(text, answers);
  return [...answers.values()];
})();
const SESSIONS: readonly string[] = [...new Set(ANSWERS.map(({ session }) => session))];

interface Sums {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_tokens: number;
  readonly cache_read_tokens: number;
}

function sumsOf(answers: readonly Answer[]): Sums {
  const sum = (...kinds: readonly number[]) =>
    answers.reduce((all, { counts }) => kinds.reduce((s, kind) => s + (counts[kind] ?? 0), all), 0);
  return {
    input_tokens: sum(0),
    output_tokens: sum(1),
    cache_creation_tokens: sum(2, 3),
    cache_read_tokens: sum(4),
  };
}

/** Costs are rounded to a microdollar for each model and quarter of an hour. */
function expectCost(cost: number, answers: readonly Answer[], what: string): void {
  const exact = answers.reduce((sum, answer) => sum + costOfAnswer(answer), 0);
  expect(Math.abs(cost - exact), `${what}: ${cost} instead of ${exact}`).toBeLessThanOrEqual(
    answers.length / 2,
  );
}

/** The truth by a field of the answers, in the form of statistics. */
function expectGroups(
  rows: readonly (Sums & { readonly cost_microusd: number })[],
  keyOf: (row: never) => string,
  group: (answer: Answer) => string,
): void {
  const truth = Map.groupBy(ANSWERS, group);
  const used = rows.filter(({ input_tokens, output_tokens }) => input_tokens + output_tokens > 0);
  expect(used.map((row) => keyOf(row as never)).sort()).toEqual([...truth.keys()].sort());
  for (const row of used) {
    const answers = truth.get(keyOf(row as never)) ?? [];
    expect(row).toMatchObject(sumsOf(answers));
    expectCost(row.cost_microusd, answers, keyOf(row as never));
  }
}

const AGENTS: ReadonlyMap<string, string> = new Map(
  USAGE_FILES.flatMap(({ text, read, agent }) => {
    const own = new Map<string, Answer>();
    read(text, own);
    return [...own.values()].map(({ session }) => [session, agent] as const);
  }),
);

describe.each(["SQLite", "PostgreSQL"])("on %s", (backend) => {
  const folder = createFolder(afterAll);
  let engine: Engine;
  let server: McpHttp;
  let page: RemoteEngine;
  let mcp: Client;
  let db = "";

  const cli = async (...args: readonly string[]) => {
    // Days of statistics are local: those of the files are in UTC.
    const env = {
      HOME: folder,
      BACKSCROLL_DB: db,
      TZ: "UTC",
      WORKSTATION_ID: "w1",
      COLUMNS: "200",
    };
    const ran = await callCli(args, { env });
    expect(ran.stderr.replace(/^More:.*\n/m, "")).toBe("");
    return ran.stdout;
  };
  const json = async (...args: readonly string[]) => JSON.parse(await cli(...args, "--json"));
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  const rest = async (path: string): Promise<any> =>
    (await fetch(`${server.url.origin}${path}`)).json();

  beforeAll(async () => {
    db = backend === "SQLite" ? join(folder, "store.db") : await createDatabase();
    const files = join(folder, "files");
    mkdirSync(files);
    for (const { name, text } of USAGE_FILES) writeFileSync(join(files, name), text);
    const env = { HOME: folder, BACKSCROLL_DB: db, TZ: "UTC", WORKSTATION_ID: "w1" };
    const ran = await callCli(["ingest", files], { env });
    expect(ran.code).toBe(0);
    engine = await open(db, { inThread: true });
    server = await startMcpHttp(engine, { ana: { ...CALLERS.reader, tenant: "default" } });
    page = await connect(server.url.origin);
    mcp = await connectHttp(server.url, "2026-07-28");
  });
  afterAll(async () => {
    await mcp.close();
    await page.close();
    await server.close();
    await engine.close();
  });

  /** The agent's own id of a listed session. */
  const ownId = (session: { readonly origin: { readonly key: string | null } }) =>
    session.origin.key?.split(":").slice(2).join(":") ?? "";

  test("the list has the tokens and the cost of each session, on every surface", async () => {
    const lists = [
      await json("list", "--machine-made"),
      await rest("/v1/sessions?costs=true&machine_made=true"),
    ];
    for (const { sessions } of lists) {
      expect(sessions.map(ownId).sort()).toEqual([...SESSIONS].sort());
      for (const session of sessions) {
        const answers = ANSWERS.filter((answer) => answer.session === ownId(session));
        expect(session.tokens, ownId(session)).toEqual(sumsOf(answers));
        expectCost(session.cost_microusd, answers, ownId(session));
      }
    }
    const shown = await cli("list", "--machine-made", "--flat");
    for (const session of lists[0].sessions) {
      const tokens = Object.values<number>(session.tokens).reduce((a, b) => a + b, 0);
      const row = shown.split("\n").find((line) => line.split(" ")[0] === session.short_id) ?? "";
      expect(row).toContain(tokens.toLocaleString("en-US"));
      const cost = session.cost_microusd / 1e6;
      if (cost >= 0.01) expect(row).toContain(`$${cost.toFixed(2)}`);
    }
  });

  test("a session alone has the same figures: command line, REST, MCP, page", async () => {
    const { sessions } = await page.listSessions({ machineMade: true, costs: true });
    for (const session of sessions) {
      const own = ownId({ origin: { key: session.origin.key ?? null } });
      const answers = ANSWERS.filter((answer) => answer.session === own);
      const usage = await json("usage", session.id);
      const alone = await rest(`/v1/stats?session=${session.shortId}`);
      const { data } = await callFull(mcp, "get_session_meta", { session_id: session.id });
      expect(usage.billed).toEqual(sumsOf(answers));
      expect(alone.total).toMatchObject(sumsOf(answers));
      expect(alone.total.sessions + alone.total.subagents).toBe(1);
      expect(data.usage.billed).toEqual(sumsOf(answers));
      expect(data.session.tokens).toEqual(sumsOf(answers));
      expectCost(usage.cost_microusd, answers, own);
      const { total } = await page.stats({ session: session.id });
      expect([alone.total.cost_microusd, data.cost_microusd, total.costMicroUsd]).toEqual(
        Array(3).fill(usage.cost_microusd),
      );
    }
  });

  test("statistics add up the same answers, by model, agent and day", async () => {
    const fromServer = await rest("/v1/stats");
    const stats = await json("stats");
    expect({ ...fromServer, days: [] }).toEqual({ ...stats, days: [] });
    expect(stats.total).toMatchObject(sumsOf(ANSWERS));
    expectCost(stats.total.cost_microusd, ANSWERS, "total");
    expect(stats.total.sessions + stats.total.subagents).toBe(SESSIONS.length);
    expectGroups(
      stats.models,
      ({ model }: { readonly model: string }) => model,
      (a) => a.model,
    );
    expectGroups(
      stats.agents,
      ({ agent }: { readonly agent: string }) => agent,
      ({ session }) => AGENTS.get(session) ?? "",
    );
    // The share of one-hour writes is known for a session and model, not for each day.
    const days = stats.days as (Sums & { readonly day: string; readonly cost_microusd: number })[];
    for (const [day, answers] of Map.groupBy(ANSWERS, (answer) => answer.day)) {
      expect(
        days.find((row) => row.day === day),
        day,
      ).toMatchObject(sumsOf(answers));
    }
    expectCost(
      days.reduce((sum, row) => sum + row.cost_microusd, 0),
      ANSWERS,
      "days",
    );
    const unknown = new Set(ANSWERS.map(({ model }) => model).filter((model) => !isPriced(model)));
    expect(stats.prices.unknown_models).toEqual([...unknown].sort());
  });

  test("the page shows the sums of the statistics", async () => {
    const { total } = await page.stats();
    const exact = ANSWERS.reduce((sum, answer) => sum + costOfAnswer(answer), 0);
    expect(dollars(total.costMicroUsd)).toBe(`$${(exact / 1e6).toFixed(2)}`);
    const { input_tokens: input, output_tokens: output } = sumsOf(ANSWERS);
    expect([total.tokens.inputTokens, total.tokens.outputTokens].map(short)).toEqual([
      short(input),
      short(output),
    ]);
  });

  test("facets count the sessions of the list", async () => {
    const { sessions } = await page.listSessions({ machineMade: true });
    const facets = await page.facets({ machineMade: true });
    const count = (values: readonly string[]) =>
      [...Map.groupBy(values, (value) => value)]
        .map(([value, all]) => ({ value, count: all.length }))
        .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
    expect(facets.sessions).toBe(SESSIONS.length);
    // One of them is machine-made.
    expect((await page.facets()).sessions).toBe(SESSIONS.length - 1);
    expect(facets.agent).toEqual(count(SESSIONS.map((id) => AGENTS.get(id) ?? "")));
    expect(facets.project).toEqual(
      count(sessions.flatMap(({ origin }) => origin.projectPath ?? [])),
    );
    const used = new Set(ANSWERS.map(({ session, model }) => `${session}\n${model}`));
    const models = [...used].map((key) => key.split("\n")[1] ?? "");
    const priced = facets.model.filter(({ value }) => models.includes(value));
    expect(priced).toEqual(count(models));
    for (const { value, count: listed } of facets.model) {
      const ofModel = await page.listSessions({ model: value, machineMade: true });
      expect(ofModel.sessions, value).toHaveLength(listed);
    }
  });
});
