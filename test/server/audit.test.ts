/** Administrative acts over the server leave a row with their author, and never a secret. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Change } from "../../src/model/change.ts";
import { openServer } from "../../src/server/serve.ts";
import { createWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

/** The tenant's feed rows of `act`. */
async function rowsOf(act: () => Promise<unknown>, tenant = "acme"): Promise<readonly Change[]> {
  const acme = world.engine.forTenant(tenant);
  const { next } = await acme.listChanges({ after: "end" });
  await act();
  return (await acme.listChanges({ after: next, limit: 500 })).changes;
}

async function send(method: string, path: string, body?: object, token = world.tokens.operator) {
  const response = await fetch(world.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const bytes = await response.arrayBuffer();
  expect(response.status, path).toBeLessThan(300);
  return Buffer.from(bytes).toString("latin1");
}

const idOf = (token: string) => token.split("_")[1];

test("rows of tokens, quotas, routes and deletions name the token and its actor", async () => {
  const acme = world.engine.forTenant("acme");
  const session = await acme.createSession({ agent: "coder", createdBy: "ana" });
  const key = "/v1/routes/agent:main:audited";
  const by = { token: idOf(world.tokens.operator), actor: "ana" };
  const { record } = await acme.createToken({ scope: "read" });
  const rows = await rowsOf(async () => {
    await send("POST", "/v1/admin/tokens", { scope: "read", actor: "bob" });
    await send("DELETE", `/v1/admin/tokens/${record.id}`);
    await send("PUT", "/v1/admin/quota", { max_sessions: 500 });
    await send("PUT", key, { session_id: session.id });
    await send("PATCH", key, { fields: { subject: "x" } });
    await send("DELETE", key);
    await send("DELETE", `/v1/sessions/${session.id}`);
  });
  expect(rows.map(({ kind, details }) => [kind, details["by"]])).toEqual([
    ["token_created", by],
    ["token_revoked", by],
    ["quota_changed", by],
    ["route_put", by],
    ["route_put", by],
    ["route_deleted", by],
    ["session_deleted", by],
  ]);
  const secret = world.tokens.operator.split("_").slice(2).join("_");
  expect(secret.length).toBeGreaterThan(20);
  expect(JSON.stringify(rows)).not.toContain(secret);
});

test("an act without another row gets one, before it is carried out", async () => {
  const rows = await rowsOf(async () => {
    await send("POST", "/v1/admin/index", { task: "flush" });
    await send("POST", "/v1/admin/sweep");
    await send("POST", "/v1/admin/store/sweep");
    // A dry run.
    await send("POST", "/v1/admin/maintain", { dry_run: true });
    await send("POST", "/v1/admin/maintain", {});
    expect(await send("GET", "/v1/backup")).toContain("administered");
  });
  const by = { token: idOf(world.tokens.operator), actor: "ana" };
  expect(rows.filter(({ kind }) => kind === "administered").map(({ details }) => details)).toEqual(
    ["maintain_index", "sweep", "sweep_store", "maintain_sessions", "backup"].map((act) => ({
      act,
      by,
    })),
  );
});

test("a refused act leaves no row", async () => {
  const rows = await rowsOf(async () => {
    const wrong = [
      fetch(`${world.url}/v1/backup`, {
        headers: { authorization: `Bearer ${world.tokens.admin}` },
      }),
      fetch(`${world.url}/v1/admin/sweep?wrong=1`, {
        method: "POST",
        headers: { authorization: `Bearer ${world.tokens.admin}` },
      }),
    ];
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual([403, 400]);
  });
  expect(rows).toEqual([]);
});

test("without a token the row says so, and the host's own acts name no actor", async () => {
  const open = await openServer(world.engine, { version: "0.0.0", port: 0, tenant: "local" });
  const rows = await rowsOf(async () => {
    await fetch(`${open.url}/v1/admin/sweep`, { method: "POST" });
    await world.engine.forTenant("local").createToken({ scope: "read" });
  }, "local");
  await open.stop();
  expect(rows.map(({ kind, details }) => [kind, details["by"]])).toEqual([
    ["administered", { token: null, actor: null }],
    ["token_created", undefined],
  ]);
  expect((await world.engine.verify()).ok).toBe(true);
});
