import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { BackscrollError } from "../model/errors.ts";
import { type BodyAllowance, readBytes } from "./body.ts";

function importOf(text: string): Request {
  return new Request("http://localhost/v1/import", {
    method: "POST",
    headers: { "content-encoding": "gzip" },
    body: new Uint8Array(gzipSync(text)),
  });
}

function allowance(run: BodyAllowance["run"]): BodyAllowance & { readonly charged: number[] } {
  const charged: number[] = [];
  return { charged, hold: () => undefined, run, charge: (ms) => charged.push(ms) };
}

test("an import is charged for its values, and waits for its turn after each chunk", async () => {
  const steps: string[] = [];
  const allowed = allowance(async (work) => {
    steps.push("turn");
    return work();
  });
  for await (const chunk of readBytes(importOf("{},".repeat(100_000)), allowed)) {
    steps.push(`${chunk.length > 0 ? "chunk" : "nothing"}`);
  }
  expect(steps.slice(0, 4)).toEqual(["chunk", "turn", "chunk", "turn"]);
  const sum = allowed.charged.reduce((total, ms) => total + ms, 0);
  // 200,000 brackets and commas at 1 µs, and 300 kB of bytes.
  expect(sum).toBeCloseTo(200 + 300_000 / 65_536);
});

test("an import of a tenant that owes too much is refused", async () => {
  const refused = new BackscrollError("rate_limited", "too much");
  const chunks = readBytes(
    importOf("{},".repeat(100_000)),
    allowance(() => Promise.reject(refused)),
  );
  await expect(drain(chunks)).rejects.toBe(refused);
});

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}
