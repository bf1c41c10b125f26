import { describe, expect, test } from "vitest";
import { namedRefs } from "../session-ref.ts";
import { type Cases, createSession, newSession, nextId } from "./fixture.cases.ts";

/** The origin of a session that its agent calls `own`, on this workstation. */
export function originOf(own: string, projectId = "p"): ReturnType<typeof newSession>["origin"] {
  return { source: "codex", workstation: "w", projectId, key: `w:${projectId}:${own}` };
}

export function shortIdCases({ store, tenant }: Cases): void {
  describe("short ids", () => {
    const add = (acme: string, own: string, projectId?: string) =>
      store().createSession(acme, newSession({ origin: originOf(own, projectId) }));
    const find = async (acme: string, ref: string) => {
      const refs = await store().findSessionRefs(acme, ref);
      return namedRefs(refs, ref).map(({ shortId }) => shortId);
    };

    test("are prefixes of the agent's own id, unique within a tenant", async () => {
      const [acme, other] = [tenant(), tenant()];
      const sessions = [
        await add(acme, "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c"),
        await add(acme, "0f3c9a12-77ab-4e0b-9c55-1d2e3f4a5b6c"),
        await add(other, "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c"),
      ];
      expect(sessions.map(({ shortId }) => shortId)).toEqual([
        "0f3c9a12",
        "0f3c9a12-7",
        "0f3c9a12",
      ]);
      const again = await add(acme, "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c", "q");
      expect(again.shortId).toBe("0f3c9a12-77");
      expect((await store().findSession(acme, again.id))?.shortId).toBe(again.shortId);
    });

    test("of concurrently created sessions are distinct", async () => {
      const acme = tenant();
      const made = await Promise.all(
        Array.from({ length: 20 }, () => createSession(store(), acme)),
      );
      const shortIds = made.map(({ shortId }) => shortId);
      expect(new Set(shortIds).size).toBe(20);
      for (const shortId of shortIds) expect(await find(acme, shortId)).toEqual([shortId]);
    });

    test("resolve to a session, as its agent's id does; ambiguous prefixes are reported", async () => {
      const acme = tenant();
      const own = "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c";
      const { id } = await add(acme, own);
      for (const ref of ["0f3c9a12", own]) expect(await find(acme, ref)).toEqual(["0f3c9a12"]);
      for (const ref of ["0f3c", own.slice(0, 20), id.slice(0, 24)]) {
        expect(await find(acme, ref)).toEqual([]);
        expect(await store().findSessionRefs(acme, ref)).toMatchObject([{ shortId: "0f3c9a12" }]);
      }
      for (const ref of ["0f3", "0F3C9A12", "3c9a12", "zzzz", "%", "0f3c%"]) {
        expect(await store().findSessionRefs(acme, ref)).toEqual([]);
      }
    });

    test("take precedence over an agent's id, which several sessions may have", async () => {
      const acme = tenant();
      await add(acme, "abcdefgh", "p");
      const other = await add(acme, "abcdefgh", "q");
      expect(await find(acme, "abcdefgh")).toEqual(["abcdefgh"]);
      const own = "0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c";
      const both = [await add(acme, own, "p"), await add(acme, own, "q")];
      expect(await find(acme, own)).toEqual(both.map(({ shortId }) => shortId));
      expect(other.shortId).toMatch(/^abcdefgh-/);
    });

    test("are free again when their session is deleted", async () => {
      const acme = tenant();
      const { id } = await add(acme, "abcdefgh-1");
      await store().deleteSession(acme, id, "test", 1);
      expect((await add(acme, "abcdefgh-2")).shortId).toBe("abcdefgh");
    });

    test("a fork gets a new one", async () => {
      const acme = tenant();
      const id = nextId();
      const session = newSession({ id, origin: originOf("abcdefgh-3") });
      const [a, b] = [
        await store().createSession(acme, session),
        await createSession(store(), acme),
      ];
      expect(a.shortId).not.toBe(b.shortId);
    });
  });
}
