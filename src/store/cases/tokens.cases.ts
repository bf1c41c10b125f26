import { describe, expect, test } from "vitest";
import type { NewToken } from "../requests.ts";
import { type Cases, expectCode, feedOf, nextId, T0 } from "./fixture.cases.ts";

export function newToken(over: Partial<NewToken> = {}): NewToken {
  return {
    id: nextId(),
    secretHash: Buffer.alloc(32, 7),
    scope: "read",
    actor: null,
    actAs: [],
    operator: false,
    label: null,
    createdAt: T0,
    expiresAt: null,
    ...over,
  };
}

export function tokenCases({ store, tenant, another }: Cases): void {
  describe("access tokens", () => {
    test("are created, found by id alone, and round-trip", async () => {
      const acme = tenant();
      const odd = { actor: "änä", actAs: ["any", 'a"b', ","], label: "", operator: true } as const;
      const full = newToken({ ...odd, scope: "admin", expiresAt: T0 + 1 });
      const plain = newToken({ actAs: "any", secretHash: Buffer.alloc(32, 255) });
      for (const token of [full, plain]) {
        const { secretHash, ...rest } = token;
        const expected = { ...rest, tenant: acme, revokedAt: null };
        expect(await store().createToken(acme, token)).toEqual(expected);
        const found = await (await another()).findToken(token.id);
        expect(found?.token).toEqual(expected);
        expect(Buffer.from(found?.secretHash ?? [])).toEqual(secretHash);
      }
      expect(await store().findToken(nextId())).toBeUndefined();
      expect(await store().findToken("")).toBeUndefined();
    });

    test("are listed by id, page by page, without their hashes", async () => {
      const acme = tenant();
      expect(await store().listTokens(acme, undefined, 10)).toEqual([]);
      const ids = Array.from({ length: 3 }, nextId);
      for (const id of ids.toReversed()) await store().createToken(acme, newToken({ id }));
      const list = async (after?: string, limit = 10) =>
        (await store().listTokens(acme, after, limit)).map((token) => token.id);
      expect(await list()).toEqual(ids);
      expect(await list(undefined, 2)).toEqual(ids.slice(0, 2));
      expect(await list(ids[1])).toEqual(ids.slice(2));
      expect(JSON.stringify(await store().listTokens(acme, undefined, 10))).not.toMatch(/secret/i);
    });

    test("are revoked once, and stay listed", async () => {
      const acme = tenant();
      const { id } = await store().createToken(acme, newToken());
      const revoked = await store().revokeToken(acme, id, T0 + 5);
      expect(revoked).toMatchObject({ id, revokedAt: T0 + 5 });
      expect(await store().revokeToken(acme, id, T0 + 9)).toEqual(revoked);
      expect((await store().findToken(id))?.token).toEqual(revoked);
      expect(await store().listTokens(acme, undefined, 10)).toEqual([revoked]);
      await expectCode(store().revokeToken(acme, "none", T0), "token_not_found", {
        tokenId: "none",
      });
    });

    test("are audited in the feed with the actor of their creation and revocation", async () => {
      const acme = tenant();
      const by = { token: "01T", actor: "ana" };
      const { id } = await store().createToken(acme, newToken(), by);
      await store().revokeToken(acme, id, T0, { token: null, actor: null });
      await store().noteAct(acme, "backup", T0, by);
      await store().noteAct(acme, "sweep", T0);
      const feed = (await feedOf(store(), acme)) as [string, object][];
      expect(feed.map(([kind]) => kind)).toEqual([
        "token_created",
        "token_revoked",
        "administered",
        "administered",
      ]);
      expect(feed.map(([, details]) => details)).toMatchObject([
        { by },
        { by: { token: null, actor: null } },
        { act: "backup", by },
        { act: "sweep" },
      ]);
      expect(feed.at(-1)?.[1]).not.toHaveProperty("by");
    });

    test("appear in the feed with their scope, never with the secret", async () => {
      const acme = tenant();
      const token = newToken({ scope: "write", actor: "ci", actAs: ["ana"], label: "private" });
      await store().createToken(acme, token);
      await Promise.all([1, 2].map(() => store().revokeToken(acme, token.id, T0)));
      const details = {
        token: token.id,
        scope: "write",
        actor: "ci",
        actAs: ["ana"],
        operator: false,
      };
      expect(await feedOf(store(), acme)).toEqual([
        ["token_created", details],
        ["token_revoked", details],
      ]);
    });
  });
}
