import { describe, expect, test } from "vitest";
import type { PutRouteRequest } from "../requests.ts";
import type { Store } from "../store.ts";
import {
  type Cases,
  createSession,
  expectCode,
  feedOf,
  newSession,
  nextId,
  T0,
} from "./fixture.cases.ts";

/** Points a key at a session created with it. */
export function newRoute(over: Partial<PutRouteRequest> = {}): PutRouteRequest {
  const session = newSession();
  const made = over.sessionId === undefined ? { sessionId: session.id, session } : {};
  return {
    key: `agent:main:${nextId()}`,
    fields: {},
    reason: "first",
    now: T0,
    ...made,
    ...over,
  } as PutRouteRequest;
}

export function routeCases({ store, tenant, another }: Cases): void {
  describe("a route", () => {
    test("is created with its session in one transaction, and round-trips", async () => {
      const acme = tenant();
      const fields = { displayName: "Änä \ud800", tokens: 1.5, nested: { a: [null] }, "": 0 };
      const request = newRoute({ fields });
      const route = await store().putRoute(acme, request);
      expect(route).toEqual({
        key: request.key,
        sessionId: request.sessionId,
        version: 1,
        fields,
        createdAt: T0,
        updatedAt: T0,
      });
      const elsewhere = await another();
      expect(await elsewhere.findRoute(acme, request.key)).toEqual(route);
      expect((await elsewhere.findSession(acme, request.sessionId))?.id).toBe(request.sessionId);
      expect(await store().findRoute(acme, "none")).toBeUndefined();
      expect(await feedOf(store(), acme)).toEqual([
        "session_created",
        ["route_put", { key: request.key, version: 1, reason: "first" }],
      ]);
    });

    test("points at the next session, and keeps its history", async () => {
      const acme = tenant();
      const first = newRoute();
      const { key } = first;
      await store().putRoute(acme, { ...first, fields: { old: true } });
      const { id } = await createSession(store(), acme);
      const next = { ...newRoute({ key, sessionId: id }), reason: "daily", now: T0 + 5 };
      const route = await store().putRoute(acme, { ...next, fields: { fresh: true } });
      expect(route).toMatchObject({ sessionId: id, version: 2, createdAt: T0, updatedAt: T0 + 5 });
      expect(route.fields).toEqual({ fresh: true });
      // The same session again changes fields only.
      await store().putRoute(acme, { ...next, now: T0 + 9 });
      const sessions = await store().listRouteSessions(acme, key, undefined, 10);
      expect(sessions).toEqual([
        { key, sessionId: id, version: 2, since: T0 + 5, reason: "daily" },
        { key, sessionId: first.sessionId, version: 1, since: T0, reason: "first" },
      ]);
      expect(await store().listRouteSessions(acme, key, undefined, 1)).toEqual(
        sessions.slice(0, 1),
      );
      expect(await store().listRouteSessions(acme, key, 2, 10)).toEqual(sessions.slice(1));
      expect(await store().listSessionRoutes(acme, id, 10)).toEqual(sessions.slice(0, 1));
      expect(await store().listSessionRoutes(acme, "none", 10)).toEqual([]);
      expect((await store().findSession(acme, first.sessionId))?.id).toBe(first.sessionId);
    });

    test("refuses an unknown session", async () => {
      const acme = tenant();
      const request = newRoute({ sessionId: "none" });
      await expectCode(store().putRoute(acme, request), "session_not_found");
      expect(await store().findRoute(acme, request.key)).toBeUndefined();
    });

    test("merges concurrent patches field by field", async () => {
      const acme = tenant();
      const { key } = await store().putRoute(acme, newRoute({ fields: { keep: 1, drop: 2 } }));
      const stores = [store(), await another()];
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 2]?.patchRoute(acme, { key, fields: { [`f${i}`]: i }, now: T0 + i }),
        ),
      );
      const route = await store().patchRoute(acme, { key, fields: { drop: null }, now: T0 });
      expect(route.version).toBe(22);
      expect(route.updatedAt).toBe(T0 + 19);
      expect(Object.keys(route.fields)).toHaveLength(21);
      expect(route.fields).toMatchObject({ keep: 1, f0: 0, f19: 19 });
      expect((await feedOf(store(), acme)).at(-1)).toEqual([
        "route_put",
        { key, version: 22, fields: ["drop"] },
      ]);
      const none = { key: "none", fields: {}, now: T0 };
      await expectCode(store().patchRoute(acme, none), "session_key_not_found", { key: "none" });
    });

    test("compare-and-swap: one of several writers at the same version wins", async () => {
      const acme = tenant();
      const stores = [store(), await another()];
      const { key } = newRoute();
      for (const expectedVersion of [0, 1]) {
        const tries = await Promise.allSettled(
          Array.from({ length: 12 }, (_, i) =>
            (stores[i % 2] as Store).putRoute(acme, newRoute({ key, expectedVersion })),
          ),
        );
        expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const codes = tries.map((each) => (each.status === "rejected" ? each.reason.code : "fine"));
        expect(new Set(codes)).toEqual(new Set(["fine", "route_conflict"]));
      }
      // The losers have created no session either.
      const { sessions } = await store().listSessions(acme, {}, { limit: 50 });
      expect(sessions).toHaveLength(2);
      await expectCode(
        store().patchRoute(acme, { key, fields: {}, expectedVersion: 1, now: T0 }),
        "route_conflict",
        { key, version: 2, expected: 1 },
      );
    });

    test("is listed by its key, page by page", async () => {
      const acme = tenant();
      expect(await store().listRoutes(acme, undefined, 10)).toEqual([]);
      const keys = ["A", "a", "a:b", "ä", "b"];
      for (const key of keys.toReversed()) await store().putRoute(acme, newRoute({ key }));
      const list = async (after?: string, limit = 10) =>
        (await store().listRoutes(acme, after, limit)).map((route) => route.key);
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(await list()).toEqual(sorted);
      expect(await list(undefined, 2)).toEqual(sorted.slice(0, 2));
      expect(await list(sorted[1])).toEqual(sorted.slice(2));
    });

    test("is deleted with its history, and its sessions stay", async () => {
      const acme = tenant();
      const request = newRoute();
      const { key, sessionId } = await store().putRoute(acme, request);
      await store().deleteRoute(acme, key, T0 + 1);
      expect(await store().findRoute(acme, key)).toBeUndefined();
      expect(await store().listRouteSessions(acme, key, undefined, 10)).toEqual([]);
      expect((await store().findSession(acme, sessionId))?.id).toBe(sessionId);
      expect((await feedOf(store(), acme)).at(-1)).toEqual(["route_deleted", { key, version: 1 }]);
      await expectCode(store().deleteRoute(acme, key, T0), "session_key_not_found");
      const again = await store().putRoute(acme, newRoute({ key, sessionId, expectedVersion: 0 }));
      expect(again.version).toBe(1);
    });

    test("outlives its session, and then points at none", async () => {
      const acme = tenant();
      const { key, sessionId } = await store().putRoute(acme, newRoute());
      await store().deleteSession(acme, sessionId, "user", T0);
      expect((await store().findRoute(acme, key))?.sessionId).toBe(sessionId);
      await expectCode(store().putRoute(acme, newRoute({ key, sessionId })), "session_not_found");
    });
  });
}
