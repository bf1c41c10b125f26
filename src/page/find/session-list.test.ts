import { afterAll, expect, test, vi } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Session } from "../data/connection.ts";

// The address of a page, which the modules read when they are loaded.
vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const { connection } = await import("../data/connection.ts");
const { costs, listed, loadMore, readFamily } = await import("./session-list.ts");
afterAll(() => vi.unstubAllGlobals());

const session = (id: string, title: string) => ({ id, title }) as Session;

test("a page that arrives after a reload keeps the reloaded sessions", async () => {
  let answer = (_: object) => {};
  const engine = {
    listSessions: () =>
      new Promise<object>((resolve) => {
        answer = resolve;
      }),
  };
  connection.value = { kind: "open", engine: engine as unknown as RemoteEngine };
  const page = { nextCursor: "c", failure: "", ready: true, nested: new Map() };
  listed.value = { ...page, sessions: [session("a", "old")] };
  const loading = loadMore();
  listed.value = { ...page, sessions: [session("a", "new")] };
  answer({ sessions: [session("b", "next")], nextCursor: undefined });
  await loading;
  expect(listed.value.sessions.map(({ title }) => title)).toEqual(["new", "next"]);
});

test("what the sub-agents of a row cost is read with them", async () => {
  const asked: object[] = [];
  const engine = {
    listSessions: async (input: object) => {
      asked.push(input);
      return { sessions: [session("p/1", "Look")], costs: new Map([["p/1", 1_200_000]]) };
    },
  };
  connection.value = { kind: "open", engine: engine as unknown as RemoteEngine };
  costs.value = new Map([["p", 3_000_000]]);
  const nested = new Map([["p", { subAgents: 1, repeats: [] }]]);
  const page = { nextCursor: undefined, failure: "", ready: true };
  listed.value = { ...page, nested, sessions: [session("p", "Ask")] };
  expect((await readFamily("p")).map(({ id }) => id)).toEqual(["p/1"]);
  expect(asked).toMatchObject([{ parentSessionId: "p", subAgent: true, costs: true }]);
  expect([...costs.value]).toEqual([
    ["p", 3_000_000],
    ["p/1", 1_200_000],
  ]);
});

test("a page that cannot be read is reported until one is, and the sessions stay", async () => {
  let isLost = true;
  const engine = {
    listSessions: async () => {
      if (isLost) throw new Error("lost");
      return { sessions: [session("b", "next")] };
    },
  };
  connection.value = { kind: "open", engine: engine as unknown as RemoteEngine };
  const page = { nextCursor: "c", failure: "", ready: true, nested: new Map() };
  listed.value = { ...page, sessions: [session("a", "first")] };
  await loadMore();
  expect(listed.value).toMatchObject({ failure: "lost", nextCursor: "c", sessions: [{ id: "a" }] });
  isLost = false;
  await loadMore();
  expect(listed.value).toMatchObject({ failure: "", sessions: [{ id: "a" }, { id: "b" }] });
});
