/** Tokens through the engine: the same on both databases. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";

const T0 = 1_700_000_000_000;

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", async () => ":memory:"],
  ["PostgreSQL", createDatabase],
];

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  let engine: Engine;
  let now = T0;
  let tenants = 0;
  const tenant = () => engine.forTenant(`tenant-${++tenants}`);

  beforeAll(async () => {
    const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
    engine = await open(await newAddress(), { source: { now: () => now, random } });
  });
  afterAll(() => engine.close());

  describe("a token", () => {
    test("gives its holder the access that it was created for, in its tenant only", async () => {
      const [acme, other] = [tenant(), tenant()];
      const { token, record } = await acme.createToken({
        scope: "write",
        actor: "ci",
        actAs: ["ana", "bob", "ana"],
        label: "build",
        expires: new Date(T0 + 1_000),
      });
      expect(record).toEqual({
        id: record.id,
        tenant: acme.tenant,
        scope: "write",
        actor: "ci",
        label: "build",
        actAs: ["ana", "bob"],
        operator: false,
        createdAt: T0,
        expiresAt: T0 + 1_000,
        revokedAt: null,
      });
      expect(await engine.authenticate(token)).toEqual({
        tenant: acme.tenant,
        scope: "write",
        actor: "ci",
        actAs: ["ana", "bob"],
        operator: false,
        tokenId: record.id,
      });
      expect(await other.listTokens()).toEqual([]);
      await expect(other.revokeToken(record.id)).rejects.toMatchObject({ code: "token_not_found" });
    });

    test("may have no actor, any actor, and access to the whole store", async () => {
      const acme = tenant();
      const plain = await acme.createToken({ scope: "read" });
      expect(await engine.authenticate(plain.token)).toMatchObject({
        scope: "read",
        actor: null,
        actAs: [],
        operator: false,
      });
      const most = await acme.createToken({ scope: "admin", actAs: "any", operator: true });
      expect(await engine.authenticate(most.token)).toMatchObject({
        scope: "admin",
        actor: null,
        actAs: "any",
        operator: true,
      });
    });

    test("is refused with a wrong secret, or with another token's", async () => {
      const acme = tenant();
      const [one, two] = [
        (await acme.createToken({ scope: "read" })).token,
        (await acme.createToken({ scope: "read" })).token,
      ];
      const head = one.slice(0, -43);
      const wrong = [
        "",
        "x",
        head,
        `${head}${"A".repeat(43)}`,
        `${head}${two.slice(-43)}`,
        `bsk_${"0".repeat(26)}_${one.slice(-43)}`,
        5 as never,
        undefined as never,
      ];
      for (const text of wrong) expect(await engine.authenticate(text)).toBeUndefined();
      expect(await engine.authenticate(one)).toBeDefined();
    });

    test("is refused once it has expired or was revoked", async () => {
      const acme = tenant();
      const short = await acme.createToken({ scope: "read", expires: now + 10 });
      const long = await acme.createToken({ scope: "read" });
      now += 9;
      expect(await engine.authenticate(short.token)).toBeDefined();
      now += 1;
      expect(await engine.authenticate(short.token)).toBeUndefined();
      expect(await engine.authenticate(long.token)).toBeDefined();
      const revoked = await acme.revokeToken(long.record.id);
      expect(revoked).toEqual({ ...long.record, revokedAt: now });
      expect(await engine.authenticate(long.token)).toBeUndefined();
      now += 1;
      expect(await acme.revokeToken(long.record.id)).toEqual(revoked);
      expect(await acme.listTokens()).toEqual([short.record, revoked]);
    });

    test("is listed by pages", async () => {
      const acme = tenant();
      const records = [];
      for (let i = 0; i < 3; i++) records.push((await acme.createToken({ scope: "read" })).record);
      expect(await acme.listTokens({ limit: 2 })).toEqual(records.slice(0, 2));
      expect(await acme.listTokens({ after: records[1]?.id ?? "" })).toEqual(records.slice(2));
    });

    test("has its creation and end in the feed, and its secret in no row", async () => {
      const acme = tenant();
      const { token, record } = await acme.createToken({ scope: "admin", actor: "ana" });
      await acme.revokeToken(record.id);
      await acme.revokeToken(record.id);
      const { changes } = await acme.listChanges();
      expect(
        changes.map(({ kind, details }) => [kind, details["token"], details["actor"]]),
      ).toEqual([
        ["token_created", record.id, "ana"],
        ["token_revoked", record.id, "ana"],
      ]);
      const secret = token.slice(-43);
      const all = JSON.stringify([changes, record, await acme.listTokens()]);
      expect(all).not.toContain(secret);
      expect((await engine.verify()).problems).toEqual([]);
    });
  });

  describe("an invalid token", () => {
    test.each([
      ["operator", { scope: "write", operator: true }],
      ["expires", { scope: "read", expires: T0 - 1 }],
      ["expires", { scope: "read", expires: Number.MAX_SAFE_INTEGER }],
      ["scope", { scope: "root" }],
      ["actAs[1]", { scope: "read", actAs: ["a", ""] }],
    ])("is refused with the name of the field: %s", async (field, input) => {
      await expect(tenant().createToken(input as never)).rejects.toMatchObject({
        code: "invalid_input",
        details: { field },
      });
    });

    test("names the limit of its actors", async () => {
      const actAs = Array.from({ length: 101 }, (_, i) => `actor ${i}`);
      await expect(tenant().createToken({ scope: "write", actAs })).rejects.toMatchObject({
        code: "too_large",
        details: { field: "actAs", limit: 100, actual: 101 },
      });
    });
  });
});
