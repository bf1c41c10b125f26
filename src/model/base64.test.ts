import { expect, test } from "vitest";
import { SEED, seeded } from "../../test/support/random.ts";
import { fromBase64, toBase64 } from "./base64.ts";

test("bytes round-trip through base64 at any length", () => {
  const random = seeded(SEED);
  for (const length of [0, 1, 2, 3, 32_767, 32_768, 32_769, 100_001]) {
    const bytes = Uint8Array.from({ length }, () => random() * 256);
    const text = toBase64(bytes);
    expect(text).toBe(Buffer.from(bytes).toString("base64"));
    expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
  }
});
