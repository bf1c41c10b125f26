import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { open } from "../open.ts";
import { ingest } from "./ingest.ts";
import type { IngestOptions } from "./ingest-setting.ts";
import { firstReplaced, readOriginal } from "./originals.ts";

const FIXTURE = join(import.meta.dirname, "../../test/fixtures/claude-code/version-2.jsonl");

function input(folder: string, over: Partial<IngestOptions> = {}) {
  const environment = { home: folder, variables: { WORKSTATION_ID: "w1" }, platform: "linux" };
  return { environment, paths: [join(folder, "chats")], ...over } as const;
}

async function originalBytes(tenant: TenantApi, index = 0): Promise<Buffer> {
  const original = (await tenant.originals.list())[index];
  if (original === undefined) throw new Error("there is no original");
  const chunks: Uint8Array[] = [];
  for await (const chunk of readOriginal(tenant, original)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("the bytes of an ingested file", () => {
  test("round-trip, also after it has grown", async () => {
    const folder = createFolder();
    const file = join(folder, "chats.jsonl");
    const lines = readFileSync(FIXTURE, "utf8").split(/(?<=\n)/);
    await using memory = await open(":memory:");
    writeFileSync(file, "");
    for (const [i, line] of lines.entries()) {
      // Also an unfinished line.
      appendFileSync(file, line.slice(0, 20));
      if (i % 2 === 0) await ingest(memory, { ...input(folder), paths: [file] });
      appendFileSync(file, line.slice(20));
      await ingest(memory, { ...input(folder), paths: [file] });
      // Nothing is kept before a file's first message.
      if (i > 2) expect(await originalBytes(memory)).toEqual(readFileSync(file));
    }
    const [original] = await memory.originals.list();
    expect(original?.sessionIds).toHaveLength(1);
    expect(original?.parts.length).toBeLessThan(Math.log2(lines.length) + 2);
  });

  test("are replaced when it is rewritten", async () => {
    const folder = createFolder();
    const file = join(folder, "chats.jsonl");
    await using memory = await open(":memory:");
    copyFileSync(FIXTURE, file);
    await ingest(memory, { ...input(folder), paths: [file] });
    writeFileSync(file, readFileSync(FIXTURE, "utf8").split("\n").slice(1).join("\n"));
    await ingest(memory, { ...input(folder), paths: [file], force: true });
    expect(await originalBytes(memory)).toEqual(readFileSync(file));
  });

  test("are not kept when switched off, after a dry run, or for deleted sessions", async () => {
    const folder = createFolder();
    const file = join(folder, "chats.jsonl");
    copyFileSync(FIXTURE, file);
    await using memory = await open(":memory:");
    await ingest(memory, { ...input(folder), paths: [file], dryRun: true });
    expect(await memory.originals.list()).toEqual([]);
    await ingest(memory, { ...input(folder), paths: [file], originals: false });
    expect(await memory.originals.list()).toEqual([]);
    await ingest(memory, { ...input(folder), paths: [file], force: true });
    const [original] = await memory.originals.list();
    expect(original).toMatchObject({ workstation: "w1", path: file, source: "claude-code" });
    await memory.deleteSession(original?.sessionIds[0] ?? "");
    expect(await memory.originals.list()).toEqual([]);
    appendFileSync(file, "\n");
    await ingest(memory, input(folder));
    await ingest(memory, { ...input(folder), paths: [folder] });
    expect(await memory.originals.list()).toEqual([]);
  });

  test("that are damaged are reported", async () => {
    const folder = createFolder();
    const file = join(folder, "chats.jsonl");
    copyFileSync(FIXTURE, file);
    await using memory = await open(":memory:");
    await ingest(memory, { ...input(folder), paths: [file] });
    const [original] = await memory.originals.list();
    if (original === undefined) throw new Error("there is no original");
    const bytes = Buffer.from((await memory.originals.readPart("w1", file, 0)) ?? []);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    const parts = [{ start: 0, size: original.size, bytes }];
    await memory.originals.put("w1", { ...original, from: 0, parts });
    await expect(originalBytes(memory)).rejects.toMatchObject({ code: "store_corrupt" });
    await memory.originals.put("w1", { ...original, from: 0, parts: [] });
    await expect(originalBytes(memory)).rejects.toMatchObject({ code: "store_corrupt" });
  });
});

test("a file that grows has few parts, and each byte is written a few times", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 200 }), (steps) => {
      let parts: { start: number; size: number }[] = [];
      let [size, written] = [0, 0];
      for (const step of steps) {
        const start = firstReplaced(parts, size, size + step);
        size += step;
        parts = [...parts.filter((part) => part.start < start), { start, size: size - start }];
        written += size - start;
        expect(parts.reduce((sum, part) => sum + part.size, 0)).toBe(size);
      }
      expect(parts.length).toBeLessThan(Math.log2(size + 2) + 2);
      expect(written).toBeLessThanOrEqual(size * (Math.log2(size + 2) + 1));
    }),
  );
});
