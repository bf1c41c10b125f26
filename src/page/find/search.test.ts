import { afterAll, expect, test, vi } from "vitest";
import type { RemoteEngine } from "../../client/index.ts";
import type { Hit, SearchResult } from "../data/connection.ts";

// The address of a page, which the modules read when they are loaded.
vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);
const { connection } = await import("../data/connection.ts");
const { found, moreHits } = await import("./search.ts");
afterAll(() => vi.unstubAllGlobals());

const hit = (sessionId: string) => ({ sessionId }) as Hit;

test("hits that cannot be read are reported until they are, and those before them stay", async () => {
  let isLost = true;
  const engine = {
    searchSessions: async () => {
      if (isLost) throw new Error("lost");
      return { hits: [hit("b")] };
    },
    getSessionMeta: async (id: string) => ({ id }),
  };
  connection.value = { kind: "open", engine: engine as unknown as RemoteEngine };
  const result = { hits: [hit("a")], nextCursor: "c" } as unknown as SearchResult;
  found.value = { query: "cron", failure: "", result };
  await moreHits();
  expect(found.value).toEqual({ query: "cron", failure: "lost", result });
  isLost = false;
  await moreHits();
  expect(found.value).toMatchObject({ failure: "", result: { hits: [hit("a"), hit("b")] } });
});
