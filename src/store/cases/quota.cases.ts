import { describe, expect, test } from "vitest";
import type { Quota } from "../records.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  expectCode,
  message,
  newSession,
  T0,
} from "./fixture.cases.ts";

const NONE: Quota = { maxSessions: null, maxEntries: null, maxContentBytes: null };

export function quotaCases({ store, tenant }: Cases): void {
  describe("a quota", () => {
    test("limits sessions, and a deletion makes room", async () => {
      const acme = tenant();
      await store().setQuota(acme, { ...NONE, maxSessions: 1 }, T0);
      const { id } = await createSession(store(), acme);
      await expectCode(createSession(store(), acme), "quota_exceeded", {
        field: "sessions",
        limit: 1,
        actual: 2,
      });
      await append(store(), acme, id, message("still fine"));
      const fork = store().forkSession(acme, { sessionId: id, session: newSession() });
      await expectCode(fork, "quota_exceeded", { field: "sessions" });
      const kinds = (await changesOf(store(), acme)).map((change) => change.kind);
      expect(kinds).toEqual(["quota_changed", "session_created", "entry_appended"]);
      await store().deleteSession(acme, id, "user", T0);
      await createSession(store(), acme);
    });

    test("limits entries and bytes, for a whole batch", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await store().setQuota(acme, { ...NONE, maxEntries: 2 }, T0);
      await append(store(), acme, id, message("1"));
      const two = append(store(), acme, id, message("2"), message("3"));
      await expectCode(two, "quota_exceeded", { field: "entries", limit: 2, actual: 3 });
      expect((await store().findSession(acme, id))?.entryCount).toBe(1);
      const bytes = message("1").contentBytes;
      await store().setQuota(acme, { ...NONE, maxContentBytes: 2 * bytes }, T0);
      await append(store(), acme, id, message("2"));
      await expectCode(append(store(), acme, id, message("3")), "quota_exceeded", {
        field: "content bytes",
        limit: 2 * bytes,
        actual: 3 * bytes,
      });
      await store().setQuota(acme, NONE, T0);
      await append(store(), acme, id, message("3"));
    });

    test("is reported with its usage in the status", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const quota = { maxSessions: 5, maxEntries: 6, maxContentBytes: 7_000 };
      await store().setQuota(acme, quota, T0);
      await store().setPinned(acme, id, ids[0] ?? "", true, T0);
      const note = { agent: "a", name: "n", content: "x", metadata: {}, now: T0 };
      await store().putMemory(acme, note);
      const status = await store().status();
      const head = await store().feedHead(acme);
      expect(status.tenants.find((each) => each.tenant === acme)).toEqual({
        tenant: acme,
        sessions: 1,
        entries: 2,
        messages: 2,
        contentBytes: 2 * message("1").contentBytes,
        pending: 0,
        memories: 1,
        facts: 0,
        feedPosition: 6,
        feedHead: Buffer.from(head.hash).toString("hex"),
        index: { lag: 6, segments: 0, documents: 0, bytes: 0, vectors: null },
        quota,
      });
      expect(status.epoch).toBe(head.epoch);
      expect(status.schemaVersion).toBeGreaterThanOrEqual(17);
      expect(status.databaseBytes).toBeGreaterThan(0);
      const names = status.tenants.map((each) => each.tenant);
      expect(names).toEqual(await store().listTenants());
    });
  });
}
