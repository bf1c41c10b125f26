import { expect, test } from "vitest";
import { mcpHttpHandler } from "../mcp/http.ts";
import { open } from "../open.ts";
import { createApp } from "./app.ts";
import { WORK_SHARE, WorkShare } from "./load/work-share.ts";

test("a large body that /mcp refuses is charged to its tenant", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const mcp = mcpHttpHandler({ tenantFor: (name) => engine.forTenant(name), version: "0" });
  const charged: number[] = [];
  class CountedShare extends WorkShare {
    override charge(tenant: string, ms: number): void {
      if (tenant === "acme" && ms === 75) charged.push(ms);
      super.charge(tenant, ms);
    }
  }
  const app = createApp({
    engine,
    version: "0",
    log: () => undefined,
    mcp: mcp.fetch,
    share: new CountedShare(WORK_SHARE),
    stopping: new AbortController().signal,
    admission: {
      anonymous: {
        tenant: "acme",
        scope: "read",
        actor: null,
        actAs: [],
        operator: false,
        tokenId: null,
      },
      hosts: undefined,
      origins: new Set(),
      authenticate: async () => undefined,
    },
  });
  const post = async (body: string) => {
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const answer = await app.request("/mcp", { method: "POST", headers, body }, {});
    return answer.status;
  };
  expect(await post(`{"a":[${"0,".repeat(40_000)}0]}`)).toBe(413);
  expect(charged).toEqual([75]);
  // Small bodies are refused without a charge.
  expect(await post("{")).toBe(400);
  expect(charged).toEqual([75]);
  await mcp.close();
});

test("recognising the format of an import is charged to its tenant, and its bytes are", async () => {
  await using engine = await open(":memory:", { inThread: true });
  let charged = 0;
  class CountedShare extends WorkShare {
    override charge(tenant: string, ms: number): void {
      // Pieces of work are measured; fixed charges are exact.
      if (tenant === "acme") charged += ms;
      super.charge(tenant, ms);
    }
    override run<Result>(_tenant: string, work: () => Result): Promise<Result> {
      return Promise.resolve(work());
    }
  }
  const app = createApp({
    engine,
    version: "0",
    log: () => undefined,
    share: new CountedShare(WORK_SHARE),
    stopping: new AbortController().signal,
    admission: {
      anonymous: {
        tenant: "acme",
        scope: "write",
        actor: null,
        actAs: "any",
        operator: false,
        tokenId: null,
      },
      hosts: undefined,
      origins: new Set(),
      authenticate: async () => undefined,
    },
  });
  const cost = async (query: string, body: string) => {
    charged = 0;
    await app.request(`/v1/import${query}`, { method: "POST", body }, {});
    return charged;
  };
  const blanks = " ".repeat(65_536);
  // A millisecond for 64 KiB.
  expect(await cost("", blanks)).toBe(5 + 1);
  expect(await cost("?source=codex", blanks)).toBe(1);
});
