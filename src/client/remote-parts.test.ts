import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../gateway/config/read-config.ts";
import { maintainSessions } from "../gateway/maintain.ts";
import { sessionStatus } from "../gateway/session-status.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";

/** Compares the client's session keys and gateway calls with the library's. */

const { config } = readConfig({ session: { maintenance: { mode: "warn", maxEntries: 1 } } });

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({ gateway: config }, afterAll);
});

const KEY = "agent:main:telegram:direct:a/b";

describe("session keys over the network", () => {
  test("are pointed at sessions, changed, listed and deleted", async () => {
    const { routes } = served.remote;
    const local = served.engine.routes;
    const session = await served.remote.createSession({ agent: "main", createdBy: "ana" });
    const put = await routes.put(KEY, {
      sessionId: session.id,
      fields: { displayName: "Ana", mine: { a: 1 } },
      reason: "test",
      expectedVersion: 0,
    });
    expect(put).toStrictEqual(await local.get(KEY));
    expect(await routes.patch(KEY, { displayName: null, room: "r" })).toStrictEqual(
      await local.get(KEY),
    );
    const stale = routes.patch(KEY, { room: "s" }, { expectedVersion: 1 });
    await expect(stale).rejects.toMatchObject({ code: "route_conflict" });
    expect(await routes.find("agent:main:none")).toBeUndefined();
    await expect(routes.get("agent:main:none")).rejects.toMatchObject({
      code: "session_key_not_found",
    });

    const next = await routes.put(KEY, {
      create: {
        agent: "main",
        createdBy: "ana",
        title: "Next",
        startedAt: 5_000,
        ttl: 60,
        origin: { projectPath: "/p" },
      },
      reason: "daily",
    });
    expect(await served.engine.getSessionMeta(next.sessionId)).toMatchObject({
      title: "Next",
      startedAt: 5_000,
      ttl: 60,
      origin: { projectPath: "/p" },
    });
    expect(await routes.list({ limit: 1 })).toStrictEqual(await local.list({ limit: 1 }));
    expect(await routes.list({ after: KEY })).toEqual([]);
    const history = await routes.history(KEY);
    expect(history).toStrictEqual(await local.history(KEY));
    expect(history.map(({ reason }) => reason)).toEqual(["daily", "test"]);
    expect(await routes.history(KEY, { limit: 1, before: 3 })).toStrictEqual(
      await local.history(KEY, { limit: 1, before: 3 }),
    );
    expect(await routes.ofSession(session.id)).toStrictEqual(await local.ofSession(session.id));
    expect(await routes.ofSession("nobody")).toStrictEqual(await local.ofSession("nobody"));
    await routes.delete(KEY);
    expect(await local.find(KEY)).toBeUndefined();
  });

  test("a route has one session, created or named", async () => {
    const put = served.remote.routes.put(KEY, {});
    await expect(put).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "sessionId" },
    });
  });
});

describe("a gateway's answers, by the server's settings", () => {
  test("the status of a session", async () => {
    const { engine, remote } = served;
    const session = await remote.createSession({ agent: "main", createdBy: "ana" });
    await session.append([
      { role: "user", actor: "ana", content: "Why?" },
      { role: "assistant", content: "So.", model: "gpt-5", usage: { inputTokens: 9 } },
    ]);
    await remote.routes.put(KEY, { sessionId: session.id });
    const status = await remote.sessionStatus(session.id);
    expect(status).toStrictEqual(await sessionStatus(engine, session.id, config));
    expect(status).toMatchObject({ key: KEY, current: true, window: { source: "catalogue" } });
    expect(status.nextReset).not.toBeNull();
    await expect(remote.sessionStatus("none")).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("the plan of deletions", async () => {
    const { engine, remote } = served;
    const report = await remote.maintainSessions({ dryRun: true });
    expect(report).toStrictEqual(await maintainSessions(engine, config, { dryRun: true }));
    expect(await remote.maintainSessions()).toMatchObject({ mode: "warn", applied: false });
  });
});
