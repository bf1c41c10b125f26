import { afterAll, expect, test, vi } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Session } from "../data/connection.ts";

// The address of a page, which the modules read when they are loaded.
vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const { connection } = await import("../data/connection.ts");
const { listed, loadMore } = await import("./session-list.ts");
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
  const page = { nextCursor: "c", failure: "", ready: true, nested: new Map(), costs: new Map() };
  listed.value = { ...page, sessions: [session("a", "old")] };
  const loading = loadMore();
  listed.value = { ...page, sessions: [session("a", "new")] };
  answer({ sessions: [session("b", "next")], nextCursor: undefined });
  await loading;
  expect(listed.value.sessions.map(({ title }) => title)).toEqual(["new", "next"]);
});
