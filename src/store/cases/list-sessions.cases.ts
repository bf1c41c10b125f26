import { describe, expect, test } from "vitest";
import type { SessionFilter, SessionPosition } from "../records.ts";
import { append, type Cases, createSession, message, T0 } from "./fixture.cases.ts";

export function listSessionsCases({ store, tenant }: Cases): void {
  async function idsOf(acme: string, filter: SessionFilter): Promise<string[]> {
    const { sessions, next } = await store().listSessions(acme, filter, { limit: 100 });
    expect(next).toBeUndefined();
    return sessions.map((session) => session.id);
  }

  describe("listSessions", () => {
    test("sorts by last interaction, newest first, then by age", async () => {
      const acme = tenant();
      for (const [id, startedAt] of [
        ["a", 3],
        ["b", 1],
        ["c", 2],
        ["d", 2],
      ] as const) {
        await createSession(store(), acme, { id, startedAt: T0 + startedAt });
      }
      expect(await idsOf(acme, {})).toEqual(["a", "d", "c", "b"]);
      await append(store(), acme, "b", message("hi", { createdAt: T0 + 9 }));
      await append(store(), acme, "c", message("tick", { createdAt: T0 + 10, interaction: false }));
      expect(await idsOf(acme, {})).toEqual(["b", "a", "d", "c"]);
    });

    test("filters by key prefix, in any script", async () => {
      const acme = tenant();
      const keys = ["a/b", "a/b/c d", "a/bé", "a/b\u{10ffff}x", "a", "a%b", "a_b", "A/b", "b"];
      for (const [i, key] of keys.entries()) {
        await createSession(store(), acme, { id: key, origin: { key }, startedAt: T0 - i });
      }
      await createSession(store(), acme, { id: "none" });
      for (const keyPrefix of ["a/b", "a", "a%", "a_", "a/b/c d", "é", "A"]) {
        expect(await idsOf(acme, { keyPrefix }), keyPrefix).toEqual(
          keys.filter((key) => key.startsWith(keyPrefix)),
        );
      }
      expect(await idsOf(acme, { keyPrefix: "a/b", agent: "nobody" })).toEqual([]);
    });

    test("filters by metadata fields", async () => {
      const acme = tenant();
      const all = {
        text: { k: "1", other: 2 },
        number: { k: 1 },
        fraction: { k: 1.5, "a b": true },
        yes: { k: true },
        nested: { in: { k: "1" }, list: ["k", "1"] },
        odd: { 'q"\\': "é\u0000😀", k: "" },
        none: {},
      };
      for (const [i, [id, metadata]] of Object.entries(all).entries()) {
        await createSession(store(), acme, { id, metadata, startedAt: T0 - i });
      }
      expect(await idsOf(acme, { metadata: { k: "1" } })).toEqual(["text"]);
      expect(await idsOf(acme, { metadata: { k: 1 } })).toEqual(["number"]);
      expect(await idsOf(acme, { metadata: { k: 1.5, "a b": true } })).toEqual(["fraction"]);
      expect(await idsOf(acme, { metadata: { k: true } })).toEqual(["yes"]);
      expect(await idsOf(acme, { metadata: { k: "" } })).toEqual(["odd"]);
      expect(await idsOf(acme, { metadata: { k: "1", other: 3 } })).toEqual([]);
      expect(await idsOf(acme, { metadata: {} })).toEqual(Object.keys(all));
    });

    test("gives every session exactly once over all pages", async () => {
      const acme = tenant();
      const ids = Array.from({ length: 11 }, (_, i) => `s${String(i).padStart(2, "0")}`);
      for (const id of ids) {
        await createSession(store(), acme, { id, startedAt: T0 + Math.floor(ids.indexOf(id) / 3) });
      }
      const seen: string[] = [];
      const sizes: number[] = [];
      let after: SessionPosition | undefined;
      do {
        const page = await store().listSessions(
          acme,
          { agent: "coder" },
          { limit: 4, ...(after === undefined ? {} : { after }) },
        );
        seen.push(...page.sessions.map((session) => session.id));
        sizes.push(page.sessions.length);
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(ids.toReversed());
      expect(sizes).toEqual([4, 4, 3]);
    });

    test("filters by a model of the messages, and counts", async () => {
      const acme = tenant();
      for (const id of ["a", "b", "c"]) await createSession(store(), acme, { id });
      await append(store(), acme, "a", message("one", { model: "m1" }));
      await append(store(), acme, "a", message("two", { model: "m2" }));
      await append(store(), acme, "a", message("three", { model: "m2" }));
      await append(store(), acme, "b", message("one", { model: "m2" }));
      await append(store(), acme, "c", message("one"));
      expect((await idsOf(acme, { model: "m2" })).sort()).toEqual(["a", "b"]);
      expect(await idsOf(acme, { model: "m1", agent: "coder" })).toEqual(["a"]);
      expect(await idsOf(acme, { model: "m" })).toEqual([]);
      const counts = async (ids: readonly string[]) =>
        (await store().countModels(acme, ids)).toSorted(
          (one, other) => other.sessions - one.sessions,
        );
      expect(await counts(["a", "b", "c", "none"])).toEqual([
        { model: "m2", sessions: 2 },
        { model: "m1", sessions: 1 },
      ]);
      expect(await counts(["b"])).toEqual([{ model: "m2", sessions: 1 }]);
      await store().deleteSession(acme, "a", "user", T0);
      expect(await idsOf(acme, { model: "m2" })).toEqual(["b"]);
      expect(await counts(["a", "b"])).toEqual([{ model: "m2", sessions: 1 }]);
    });

    test("filters machine-made sessions before it fills a page", async () => {
      const acme = tenant();
      const metadata = [
        { machineMade: true },
        { machineMade: false },
        { source: { machineMade: true } },
        { machineMade: true },
        { machineMade: "true" },
        {},
      ];
      for (const [i, each] of metadata.entries()) {
        await createSession(store(), acme, { id: `m${i}`, startedAt: T0 + i, metadata: each });
      }
      expect(await idsOf(acme, {})).toHaveLength(6);
      expect(await idsOf(acme, { machineMade: false })).toEqual(["m5", "m4", "m2", "m1"]);
      expect(await idsOf(acme, { machineMade: false, agent: "coder" })).toHaveLength(4);
      const page = await store().listSessions(acme, { machineMade: false }, { limit: 4 });
      expect(page.sessions).toHaveLength(4);
      expect(page.next).toBeUndefined();
    });

    test("sub-agents and all others are the whole list, whatever the metadata hold", async () => {
      const acme = tenant();
      const all = {
        "k/1": { parent: { key: "k" } },
        "k/2": { parent: { key: "k" }, said: "\u0000, half a \ud800 pair, and C:\\ud800" },
        elsewhere: { parent: { key: "k" } },
        number: { parent: { key: 5 } },
        text: { parent: "k" },
        halves: { parent: { key: "k" }, machineMade: false, "\udc00": "\ud800" },
      };
      for (const [i, [id, metadata]] of Object.entries(all).entries()) {
        const origin = id.startsWith("k/") ? { key: id } : {};
        await createSession(store(), acme, { id, metadata, origin, startedAt: T0 - i });
      }
      expect(await idsOf(acme, { subAgent: 1 })).toEqual(["k/1", "k/2"]);
      const others = ["elsewhere", "number", "text", "halves"];
      expect(await idsOf(acme, { subAgent: 0 })).toEqual(others);
      expect(await idsOf(acme, { machineMade: false })).toEqual(Object.keys(all));
      expect(await idsOf(acme, { metadata: { machineMade: false } })).toEqual(["halves"]);
    });

    test("has no next page after an exactly full last one", async () => {
      const acme = tenant();
      await createSession(store(), acme);
      await createSession(store(), acme);
      const page = await store().listSessions(acme, {}, { limit: 2 });
      expect(page.sessions).toHaveLength(2);
      expect(page.next).toBeUndefined();
    });

    test("applies each filter, and all together", async () => {
      const acme = tenant();
      const a = await createSession(store(), acme, {
        id: "a",
        agent: "coder",
        owner: "ana",
        participants: ["ana", "ben"],
        startedAt: T0 + 1,
        title: "Cron",
        origin: { projectId: "p1", workstation: "laptop", source: "codex" },
      });
      await createSession(store(), acme, {
        id: "b",
        agent: "Coder",
        owner: "ben",
        participants: ["ben"],
        startedAt: T0 + 2,
        title: "Locks",
        origin: { projectId: "p2", workstation: "desk", source: "claude-code" },
      });
      await append(store(), acme, "a", message("hi", { id: `${a.id}-1`, interaction: false }));
      const fork = { id: "c", agent: "helper", startedAt: T0 + 3, participants: ["zoe"] };
      await store().forkSession(acme, {
        sessionId: "a",
        session: { ...a, ...fork, now: T0, origin: {} },
      });

      expect(await idsOf(acme, { agent: "coder" })).toEqual(["a"]);
      expect(await idsOf(acme, { owner: "ben" })).toEqual(["b"]);
      expect(await idsOf(acme, { participant: "ben" })).toEqual(["b", "a"]);
      expect(await idsOf(acme, { participant: "zoe" })).toEqual(["c"]);
      expect(await idsOf(acme, { projectId: "p1" })).toEqual(["a"]);
      expect(await idsOf(acme, { workstation: "desk" })).toEqual(["b"]);
      expect(await idsOf(acme, { source: "codex" })).toEqual(["a"]);
      expect(await idsOf(acme, { parentSessionId: "a" })).toEqual(["c"]);
      expect(await idsOf(acme, { since: T0 + 2 })).toEqual(["c", "b"]);
      expect(await idsOf(acme, { until: T0 + 2 })).toEqual(["a"]);
      expect(await idsOf(acme, { since: T0 + 1, until: T0 + 2 })).toEqual(["a"]);
      const all = {
        agent: "coder",
        owner: "ana",
        participant: "ben",
        projectId: "p1",
        workstation: "laptop",
        source: "codex",
        since: T0,
        until: T0 + 2,
        title: "cr",
      };
      expect(await idsOf(acme, all)).toEqual(["a"]);
      expect(await idsOf(acme, { ...all, owner: "ben" })).toEqual([]);
      expect(await idsOf(acme, { agent: "nobody" })).toEqual([]);
    });

    test("matches a substring of the title, ignoring case and width, without wildcards", async () => {
      const acme = tenant();
      const titles = { a: "Der CRON-Lauf", b: "ÉTÉ 100%", c: "ｆｕｌｌ width", d: "", e: "100 x" };
      for (const [id, title] of Object.entries(titles)) {
        await createSession(store(), acme, { id, title });
      }
      expect(await idsOf(acme, { title: "cron" })).toEqual(["a"]);
      expect(await idsOf(acme, { title: "été" })).toEqual(["b"]);
      expect(await idsOf(acme, { title: "E\u0301T" })).toEqual(["b"]);
      expect(await idsOf(acme, { title: "FULL" })).toEqual(["c"]);
      expect(await idsOf(acme, { title: "0%" })).toEqual(["b"]);
      expect(await idsOf(acme, { title: "_" })).toEqual([]);
      await store().updateSession(acme, "d", { title: "Cronjobs" }, T0);
      expect(await idsOf(acme, { title: "CRON" })).toEqual(["d", "a"]);
    });
  });

  test("listTenants sorts names by their bytes", async () => {
    const names = ["b", "B", "a", "ä", "Z"].map((name) => `list-${name}-${tenant()}`);
    for (const name of names) await store().setQuota(name, NO_QUOTA, T0);
    const all = await store().listTenants();
    const own = all.filter((name) => names.includes(name));
    const byBytes = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(own).toEqual(byBytes);
  });
}

const NO_QUOTA = { maxSessions: null, maxEntries: null, maxContentBytes: null };
