/** Routes through the engine: the same on both databases. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";
import { ROUTE_FIELDS } from "./route-fields.ts";
import type { PutRouteInput } from "./routes.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
];

const create = { agent: "main", createdBy: "ana" };

test("the known fields are pinned", () => {
  expect(ROUTE_FIELDS).toEqual([
    "sessionFile",
    "chatType",
    "provider",
    "subject",
    "room",
    "space",
    "displayName",
    "thinkingLevel",
    "verboseLevel",
    "reasoningLevel",
    "elevatedLevel",
    "sendPolicy",
    "providerOverride",
    "modelOverride",
    "authProfileOverride",
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "contextTokens",
    "compactionCount",
    "memoryFlushAt",
    "memoryFlushCompactionCount",
  ]);
});

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  let engine: Engine;
  let tenants = 0;
  const newRoutes = () => engine.forTenant(`tenant-${++tenants}`).routes;

  beforeAll(async () => {
    engine = await open(await newAddress());
  });
  afterAll(() => engine.close());

  test("a route keeps every field, also unknown ones", async () => {
    const routes = newRoutes();
    const fields: NonNullable<PutRouteInput["fields"]> = {
      sessionFile: "/a.jsonl",
      provider: "telegram",
      subject: "s",
      room: "r",
      space: "p",
      chatType: "group" as const,
      displayName: "Änä",
      sendPolicy: "deny" as const,
      thinkingLevel: "high",
      verboseLevel: "on",
      reasoningLevel: "x",
      elevatedLevel: "off",
      providerOverride: "a",
      modelOverride: "b",
      authProfileOverride: "c",
      inputTokens: 1,
      outputTokens: 2,
      totalTokens: 3,
      contextTokens: 4,
      compactionCount: 0,
      memoryFlushAt: 5,
      memoryFlushCompactionCount: 0,
      skillsSnapshot: { a: [1] },
      __odd: "kept",
    };
    await routes.put("key", { create, fields });
    expect((await routes.get("key")).fields).toEqual(fields);
    const patched = await routes.patch("key", { subject: "t", room: null, later: true });
    const { room: __, ...rest } = fields;
    expect(patched.fields).toEqual({ ...rest, subject: "t", later: true });
  });

  test("a route moves on, its sessions are listed, and each knows its keys", async () => {
    const routes = newRoutes();
    const first = await routes.put("key", { create, expectedVersion: 0, reason: "first" });
    const second = await routes.put("key", { create, expectedVersion: first.version });
    await routes.put("other", { sessionId: first.sessionId });
    const history = await routes.history("key");
    expect(history.map(({ sessionId, reason }) => [sessionId, reason])).toEqual([
      [second.sessionId, "set"],
      [first.sessionId, "first"],
    ]);
    expect((await routes.ofSession(first.sessionId)).map(({ key }) => key).sort()).toEqual([
      "key",
      "other",
    ]);
    expect((await routes.list()).map(({ key }) => key)).toEqual(["key", "other"]);
    await routes.delete("key");
    expect(await routes.find("key")).toBeUndefined();
    await expect(routes.get("key")).rejects.toMatchObject({ code: "session_key_not_found" });
  });

  test("a caller with a stale version creates nothing", async () => {
    const tenant = engine.forTenant(`tenant-${++tenants}`);
    await tenant.routes.put("key", { create });
    await expect(tenant.routes.put("key", { create, expectedVersion: 0 })).rejects.toMatchObject({
      code: "route_conflict",
    });
    expect((await tenant.listSessions()).sessions).toHaveLength(1);
  });
});
