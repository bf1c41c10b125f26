import { describe, expect, test, vi } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import type { Session } from "../../model/session.ts";
import { open } from "../../open.ts";
import type { EngineContext } from "../engine-context.ts";
import type { TenantEngine } from "../tenant-engine.ts";

const BACKENDS: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
];

async function add(
  tenant: TenantEngine,
  title: string,
  key: string,
  {
    parent,
    messages = 1,
    machineMade = false,
  }: {
    readonly parent?: string;
    readonly messages?: number;
    readonly machineMade?: boolean;
  } = {},
): Promise<string> {
  const session = await tenant.createSession({
    agent: "coder",
    createdBy: "ana",
    title,
    origin: { key, source: "claude-code" },
    metadata: {
      ...(parent === undefined ? {} : { parent: { key: parent } }),
      ...(machineMade ? { machineMade } : {}),
    },
  });
  for (let i = 0; i < messages; i++) await session.append({ role: "user", content: title });
  return session.id;
}

describe.each(BACKENDS)("a list on %s", (_name, address) => {
  test("nests sub-agents, folds runs, sorts, and links parents both ways", async () => {
    await using memory = await open(await address());
    const tenant = memory.forTenant("acme");
    const main = await add(tenant, "Mend the cron job", "k", { messages: 14 });
    const agents = [
      await add(tenant, "Look at the lock", "k/a1", { parent: "k" }),
      await add(tenant, "Look at the clock", "k/a2", { parent: "k" }),
    ];
    const runs: string[] = [];
    for (let i = 0; i < 9; i++) runs.push(await add(tenant, `Reply with marker ${i}`, `r${i}`));
    const other = await add(tenant, "Why twice?", "o", { messages: 3 });

    const page = await tenant.listSessions({ nested: true });
    expect(page.sessions.map(({ id }) => id)).toEqual([other, runs[8], main]);
    expect(page.nested?.get(main)).toEqual({ subAgents: 2, repeats: [] });
    expect(page.nested?.get(runs[8] ?? "")?.repeats).toEqual(runs.slice(0, 8).toReversed());

    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const next = await tenant.listSessions({
        nested: true,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      paged.push(...next.sessions.map(({ id }) => id));
      cursor = next.nextCursor;
    } while (cursor !== undefined);
    expect(paged).toEqual([other, runs[8], main]);

    const children = await tenant.listSessions({ parentSessionId: main });
    expect(children.sessions.map(({ id }) => id)).toEqual(agents.toReversed());
    expect(children.sessions.map((each) => each.parentSessionId)).toEqual([main, main]);
    expect((await tenant.getSessionMeta(agents[0] ?? "")).parentSessionId).toBe(main);
    expect(await tenant.listDerived(main), "a sub-agent is no fork").toMatchObject({ forks: [] });

    const later = await add(tenant, "Go on elsewhere", "later", { parent: "k", messages: 4 });
    const fork = await tenant.session(main).fork({ createdBy: "ana" });
    expect((await tenant.listDerived(main)).forks, "nor is what went on with it").toEqual([
      fork.id,
    ]);
    await tenant.session(later).delete();
    await fork.delete();

    expect((await tenant.listSessions({ subAgent: true })).sessions).toHaveLength(2);
    expect((await tenant.listSessions({ subAgent: false })).sessions).toHaveLength(11);
    const found = await tenant.searchSessions("look", { subAgent: false });
    expect(found.hits).toEqual([]);
    expect((await tenant.searchSessions("look", { subAgent: true })).hits).toHaveLength(2);

    const large = await tenant.listSessions({ sort: "size", limit: 2 });
    expect(large.sessions.map(({ id }) => id)).toEqual([main, other]);
    const { nextCursor = "" } = large;
    const rest = await tenant.listSessions({ sort: "size", limit: 500, cursor: nextCursor });
    expect([rest.sessions.length, rest.nextCursor]).toEqual([11, undefined]);
    expect((await tenant.listSessions({ sort: "cost" })).sessions).toHaveLength(13);
  });
});

test("the sub-agents of the page's sessions are counted, and no others read", async () => {
  await using memory = await open(":memory:");
  const tenant = memory.forTenant("acme");
  const started = [await add(tenant, "Of opencode", "oc", { messages: 13 })];
  for (const key of ["k", "k2"]) {
    started.push(await add(tenant, `Of ${key}`, key, { messages: 13 }));
    for (let i = 0; i < 3; i++) await add(tenant, "Look", `${key}/a${i}`, { parent: key });
  }
  await add(tenant, "Look deeper", "k/a0/b", { parent: "k/a0" });
  for (const [i, key] of ["oc", "oc-child"].entries()) {
    await tenant.createSession({
      agent: "coder",
      createdBy: "ana",
      title: key,
      origin: { key: `opencode-${i}`, source: "opencode-cli" },
      ...(i === 1 ? { metadata: { parent: { key: "opencode-0" } } } : {}),
    });
  }
  const { sessions, nested } = await tenant.listSessions({ nested: true });
  const counts = sessions.map(({ title, id }) => [title, nested?.get(id)?.subAgents]);
  expect(counts).toEqual([
    ["oc", 1],
    ["Of k2", 3],
    ["Of k", 3],
    ["Of opencode", 0],
  ]);

  const { store } = (tenant as unknown as { readonly engine: EngineContext }).engine;
  const reads = vi.spyOn(store, "listSessions");
  const title = "Of k2";
  const page = await tenant.listSessions({ nested: true, title });
  expect(page.nested?.get(started[2] ?? "")?.subAgents).toBe(3);
  const read = await Promise.all(reads.mock.results.map(({ value }) => value));
  expect(read.flatMap((each) => each.sessions)).toHaveLength(4);
});

test("as many sub-agents are counted as are listed, and as a scan of all sessions finds", async () => {
  await using memory = await open(":memory:");
  const tenant = memory.forTenant("acme");
  const main = await add(tenant, "Mend the cron job", "k", { messages: 13 });
  for (let i = 0; i < 123; i++) {
    await add(tenant, `Look ${i}`, `k/a${i}`, { parent: "k", machineMade: i % 10 === 0 });
  }
  const deeper = { parent: "k/a1", messages: 13 };
  await add(tenant, "Look deeper", "k/a1/b", deeper);
  await add(tenant, "Go on elsewhere", "later", { parent: "k", messages: 13 });
  await tenant.session(main).fork({ createdBy: "ana" });

  const all: Session[] = [];
  for await (const session of await tenant.listSessions({ machineMade: true, limit: 500 })) {
    all.push(session);
  }
  const persons = all.filter(({ metadata }) => metadata["machineMade"] !== true);
  const keys = persons.map(({ origin }) => origin.key ?? "");
  const startedBy = (key: string) =>
    keys.filter((each) => each.startsWith(`${key}/`) && !each.slice(key.length + 1).includes("/"));
  const { nested } = await tenant.listSessions({ nested: true, limit: 500 });
  expect(nested?.get(main)?.subAgents).toBe(startedBy("k").length);
  expect(startedBy("k")).toHaveLength(110);

  const listed: string[] = [];
  const input = { parentSessionId: main, subAgent: true };
  for await (const { origin } of await tenant.listSessions(input)) listed.push(origin.key ?? "");
  expect(listed.sort()).toEqual(startedBy("k").sort());
});

test("a filter that no session meets suggests what may have been meant", async () => {
  await using memory = await open(":memory:");
  const tenant = memory.forTenant("acme");
  await tenant.createSession({
    agent: "claude-code",
    createdBy: "ana",
    origin: { projectPath: "/src/shop", repo: "github.com/acme/shop" },
  });
  const notes = async (filter: object) => (await tenant.listSessions(filter)).notes;
  expect(await notes({ agent: "claude" })).toEqual([
    "No session has the agent claude; did you mean claude-code?",
  ]);
  expect(await notes({ agent: "clade-code" })).toHaveLength(1);
  expect(await notes({ repo: "acme/shpo" })).toEqual(["No session has the repo acme/shpo"]);
  expect(await notes({ project: "shp" })).toEqual([
    "No session has the project shp; did you mean shop?",
  ]);
  expect(await notes({ project: "shop", agent: "codex" })).toEqual([
    "No session has the agent codex",
  ]);
  expect(await notes({ project: "shop", title: "x" }), "another filter is the cause").toBe(
    undefined,
  );
  const found = await tenant.searchSessions("cron agent:claude");
  expect(found.notes).toContain("No session has the agent claude; did you mean claude-code?");
});
