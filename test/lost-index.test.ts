/** A store whose index is missing, or is another store's, finds its messages anyway. */

import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

async function fill(path: string, word: string): Promise<void> {
  await using engine = await open(path, { inThread: true });
  for (let s = 0; s < 3; s++) {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append(
      Array.from({ length: 20 }, (_, i) => ({
        role: "user" as const,
        content: `${word} number ${i} of ${s}`,
      })),
    );
  }
  await engine.maintainIndex("flush");
}

const LOSSES: Readonly<Record<string, (path: string, foreign: string) => void>> = {
  missing: (path) => rmSync(`${path}-index`),
  foreign: (path, foreign) => copyFileSync(`${foreign}-index`, `${path}-index`),
};

describe.each(Object.entries(LOSSES))("with a %s index", (_, lose) => {
  async function lost(): Promise<string> {
    const folder = createFolder();
    const path = join(folder, "store.db");
    await fill(path, "quagga");
    await fill(join(folder, "other.db"), "okapi");
    lose(path, join(folder, "other.db"));
    return path;
  }

  test("a search finds what it found before, also in a store that is only read", async () => {
    const path = await lost();
    for (const readOnly of [true, false]) {
      await using engine = await open(path, { inThread: true, readOnly });
      const found = await engine.searchSessions("quagga");
      expect([readOnly, found.hits.length, found.degraded]).toEqual([readOnly, 3, false]);
      expect((await engine.searchSessions("okapi")).hits).toEqual([]);
    }
  });

  test("its state says so, and maintenance of any kind mends it", async () => {
    for (const task of ["flush", "merge", "maintain"] as const) {
      const path = await lost();
      await using engine = await open(path, { inThread: true });
      expect(await engine.indexStatus()).toMatchObject({ segments: 0, documents: 0, lag: 63 });
      await engine.maintainIndex(task);
      if (task !== "flush") await engine.maintainIndex("flush");
      const { lag, documents, holder } = await engine.indexStatus();
      expect([task, lag, documents, holder]).toEqual([task, 0, 60, null]);
      expect((await engine.searchSessions("quagga")).hits).toHaveLength(3);
    }
  });

  test("the command finds, and status and doctor tell of it", async () => {
    const path = await lost();
    const run = (...args: string[]) => callCli([...args, "--db", path], { env: { HOME: path } });
    expect((await run("status")).stdout).toMatch(/63 changes/);
    // Small enough to have none; a larger one is named by doctor as missing.
    expect((await run("doctor")).stdout).not.toMatch(/^Index/m);
    const found = await run("search", "quagga");
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining("quagga")]);
  });
});
