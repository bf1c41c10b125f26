import { describe, expect, test } from "vitest";
import type { IngestedFile, OriginalUpdate } from "../ingested-file.ts";
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

export function ingested(path: string, over: Partial<IngestedFile> = {}): IngestedFile {
  return {
    path,
    source: "pi",
    size: 10,
    mtimeUs: 1_700_000_000_123_457,
    offset: 8,
    lines: 2,
    tailHash: Buffer.alloc(32, 7),
    state: '{"last":"\\ud800"}',
    seenAt: T0,
    ...over,
  };
}

export function original(path: string, over: Partial<OriginalUpdate> = {}): OriginalUpdate {
  return {
    path,
    source: "pi",
    reader: 1,
    size: 10,
    mtimeUs: 1_700_000_000_123_457,
    sessionIds: [],
    from: 0,
    parts: [{ start: 0, size: 10, bytes: Buffer.from("frame") }],
    ...over,
  };
}

export function ingestCases({ store, tenant }: Cases): void {
  describe("the origin of a session", () => {
    const before = { key: "w:0:s", workstation: "w", projectId: "0", file: "/a" };
    const project = {
      projectId: "1",
      projectPath: "/srv/shop",
      gitBranch: "main",
      repo: "git.example/acme/shop",
    };

    test("takes fields that become known later, and keeps the others", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme, { origin: before });
      const origin = { key: "w:1:s", ...project };
      const updated = await store().updateSession(acme, id, { origin }, T0);
      expect(updated.origin).toEqual({ ...before, ...origin });
      expect(await store().findSessionByOrigin(acme, "w:1:s")).toEqual(updated);
      expect(await store().findSessionByOrigin(acme, "w:0:s")).toBeUndefined();
      const again = await store().updateSession(acme, id, { origin: { key: "w:1:s" } }, T0);
      expect(again.origin).toEqual(updated.origin);
      expect(await store().listSessions(acme, { projectId: "1" }, { limit: 2 })).toMatchObject({
        sessions: [{ id }],
      });
    });

    test("refuses another session's key", async () => {
      const acme = tenant();
      const first = await createSession(store(), acme, { origin: before });
      await createSession(store(), acme, { origin: { key: "w:1:s" } });
      const patch = { origin: { key: "w:1:s", ...project } };
      await expectCode(store().updateSession(acme, first.id, patch, T0), "session_exists");
      expect(await store().findSession(acme, first.id)).toEqual(first);
    });
  });

  describe("the bytes of ingested files", () => {
    const part = (start: number, text: string) => ({ start, size: 10, bytes: Buffer.from(text) });

    test("are stored by workstation and path, and extended in place", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const sessionIds = [id];
      const first = original("/a", { sessionIds, size: 20, parts: [part(0, "a"), part(10, "b")] });
      expect(await store().putOriginal(acme, "w1", first, T0)).toBe(true);
      const grown = { ...first, reader: 2, size: 30, from: 10 };
      await store().putOriginal(
        acme,
        "w1",
        { ...grown, parts: [part(10, "c"), part(20, "d")] },
        T0,
      );
      await store().putOriginal(acme, "w2", original("/a"), T0);
      const [one, other] = await store().listOriginals(acme, { limit: 9 });
      const parts = [0, 10, 20].map((start) => ({ start, size: 10 }));
      const { from: _, ...facts } = grown;
      expect(one).toEqual({ ...facts, workstation: "w1", parts });
      expect(other).toMatchObject({ workstation: "w2", sessionIds: [] });
      for (const [start, text] of [
        [0, "a"],
        [10, "c"],
        [20, "d"],
      ] as const) {
        const bytes = await store().readOriginalPart(acme, "w1", "/a", start);
        expect(Buffer.from(bytes ?? []).toString()).toBe(text);
      }
      expect(await store().listOriginals(acme, { sessionId: id, limit: 9 })).toEqual([one]);
      const after = { workstation: "w1", path: "/a" };
      expect(await store().listOriginals(acme, { after, limit: 9 })).toEqual([other]);
      expect(await store().listOriginals(acme, { path: "/b", limit: 9 })).toEqual([]);
    });

    test("are deleted with any session of the file", async () => {
      const acme = tenant();
      const [one, two] = [await createSession(store(), acme), await createSession(store(), acme)];
      const both = original("/a", { sessionIds: [one.id, two.id] });
      await store().putOriginal(acme, "w", both, T0);
      await store().putOriginal(acme, "w", original("/b", { sessionIds: [one.id] }), T0);
      await store().deleteSession(acme, two.id, "user", T0);
      expect(await store().listOriginals(acme, { limit: 9 })).toMatchObject([{ path: "/b" }]);
      expect(await store().readOriginalPart(acme, "w", "/a", 0)).toBeUndefined();
    });

    test("are refused for a session whose retention erases content", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const kept = original("/a", { sessionIds: [id] });
      expect(await store().putOriginal(acme, "w", kept, T0)).toBe(true);
      await store().updateSession(acme, id, { retention: "ephemeral" }, T0);
      expect(await store().putOriginal(acme, "w", kept, T0)).toBe(false);
      expect(await store().listOriginals(acme, { limit: 9 })).toEqual([]);
    });
  });

  describe("ingested files", () => {
    test("are stored by workstation and path, and replaced", async () => {
      const acme = tenant();
      await store().putIngestedFiles(acme, "w1", [ingested("/a"), ingested("/b")], T0);
      const grown = ingested("/a", { size: 99, tailHash: null, state: null, seenAt: T0 + 1 });
      await store().putIngestedFiles(acme, "w1", [grown], T0);
      const found = await store().findIngestedFiles(acme, "w1", ["/b", "/a", "/c"]);
      const plain = found.map((file) => ({
        ...file,
        tailHash: file.tailHash && Buffer.from(file.tailHash),
      }));
      expect(plain.sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([grown, ingested("/b")]);
      expect(await store().findIngestedFiles(acme, "w2", ["/a"])).toEqual([]);
      expect(await store().findIngestedFiles(acme, "w1", [])).toEqual([]);
      // Read positions are not in the feed.
      expect(await changesOf(store(), acme)).toEqual([]);
    });

    test("round-trip a long resume state, read only on request", async () => {
      const acme = tenant();
      const state = JSON.stringify({ ids: Array.from({ length: 200 }, (_, i) => `id-${i}`) });
      await store().putIngestedFiles(acme, "w", [ingested("/a", { state })], T0);
      const [whole] = await store().findIngestedFiles(acme, "w", ["/a"]);
      expect(whole?.state).toBe(state);
      const [facts] = await store().findIngestedFiles(acme, "w", ["/a"], false);
      expect(facts).toEqual({ ...whole, state: null });
    });

    test("drop the resume state of a deleted session", async () => {
      const acme = tenant();
      const origin = { workstation: "w", file: "/a", key: "w:p:s" };
      const { id } = await createSession(store(), acme, { origin });
      await store().putIngestedFiles(acme, "w", [ingested("/a"), ingested("/b")], T0);
      await store().deleteSession(acme, id, "forget", T0);
      const states = (await store().findIngestedFiles(acme, "w", ["/a", "/b"])).map(
        ({ path, state }) => [path, state === null],
      );
      expect(states.sort()).toEqual([
        ["/a", true],
        ["/b", false],
      ]);
    });
  });

  test("sessions are filtered by their repository's remote or its suffix", async () => {
    const acme = tenant();
    const repos = ["git.example/acme/shop", "git.example/acme/shop", "git.example/other/shop"];
    for (const [i, repo] of repos.entries()) {
      const origin = { repo, projectPath: `/srv/clone-${i}`, key: `k${i}` };
      await createSession(store(), acme, { id: `s${i}`, origin });
    }
    await createSession(store(), acme, { id: "none" });
    const listed = async (repo: string) => {
      const { sessions } = await store().listSessions(acme, { repo }, { limit: 9 });
      return sessions.map(({ id }) => id).sort();
    };
    expect(await listed("git.example/acme/shop")).toEqual(["s0", "s1"]);
    expect(await listed("acme/shop")).toEqual(["s0", "s1"]);
    expect(await listed("shop")).toEqual(["s0", "s1", "s2"]);
    expect(await listed("hop")).toEqual([]);
    expect((await store().findSession(acme, "s2"))?.origin.repo).toBe("git.example/other/shop");
  });

  describe("findTombstoneByOrigin", () => {
    test("gives the newest deleted session of the origin", async () => {
      const acme = tenant();
      expect(await store().findTombstoneByOrigin(acme, "k")).toBeUndefined();
      for (const id of ["first", "second"]) {
        await createSession(store(), acme, { id, origin: { key: "k" } });
        await store().deleteSession(acme, id, "forget", T0);
      }
      const found = await store().findTombstoneByOrigin(acme, "k");
      expect(found).toMatchObject({ sessionId: "second", originKey: "k", reason: "forget" });
    });
  });

  describe("figures of a session", () => {
    const figures = {
      exchangeCount: 3,
      toolCounts: { bash: 2, "a b": 1 },
      fileMtime: T0,
      firstMessageAt: T0 - 5,
      lastMessageAt: T0 + 5,
    };

    test("are absent until given, and then stay", async () => {
      const acme = tenant();
      const { id, figures: none } = await createSession(store(), acme);
      expect(none).toBeUndefined();
      await append(store(), acme, id, message("hello"));
      const updated = await store().updateSession(acme, id, { figures }, T0);
      expect(updated.figures).toEqual(figures);
      await store().updateSession(acme, id, { title: "t" }, T0);
      const { sessions } = await store().listSessions(acme, {}, { limit: 9 });
      expect(sessions).toMatchObject([{ title: "t", figures }]);
    });

    test("are not copied by a fork", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message("hello"));
      await store().updateSession(acme, id, { figures }, T0);
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      expect(fork.figures).toBeUndefined();
    });
  });
}
