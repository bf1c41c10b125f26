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
