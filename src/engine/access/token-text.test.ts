import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUlids } from "../../model/ids.ts";
import { formatToken, hashSecret, newSecret, parseToken } from "./authenticate.ts";

const ID = "01JZ8Q4V7N6D0M3T5R9W2XKYBC";

describe("the text of a token", () => {
  test("is parsed back for any id and secret", () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(bytes, time, (random, now) => {
        const id = createUlids({
          now: () => now,
          random: (into) => into.set(random.slice(0, 16)),
        })();
        const secret = Buffer.from(random).toString("base64url");
        expect(parseToken(formatToken(id, secret))).toEqual({ id, secret });
      }),
    );
  });

  test("has at least 256 random bits and only URL-safe characters", () => {
    const secrets = Array.from({ length: 100 }, newSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(Buffer.from(secret, "base64url")).toHaveLength(32);
      expect(encodeURIComponent(formatToken(ID, secret))).toBe(formatToken(ID, secret));
    }
  });

  test("is refused unless it matches exactly", () => {
    const secret = newSecret();
    const right = formatToken(ID, secret);
    expect(parseToken(right)).toEqual({ id: ID, secret });
    const wrong = [
      "",
      "bsk_",
      `bsk_${ID}`,
      `bsk_${ID}_`,
      secret,
      `Bearer ${right}`,
      ` ${right}`,
      `${right}\n`,
      `${right}x`,
      right.slice(0, -1),
      right.replace("bsk", "BSK"),

      right.replace(ID, ID.toLowerCase()),
      right.replace(ID, `${ID}0`),
      right.replace("_", "-"),
      undefined,
      null,
      5,
      {},
      [right],
      new String(right),
    ];
    for (const text of wrong) expect(parseToken(text), String(text)).toBeUndefined();
  });

  test("is hashed as text: another spelling of the same bytes is another secret", () => {
    const [one, two] = [`${"A".repeat(42)}A`, `${"A".repeat(42)}B`];
    expect(Buffer.from(one, "base64url")).toEqual(Buffer.from(two, "base64url"));
    expect(hashSecret(one)).not.toEqual(hashSecret(two));
  });
});
