/** A damaged backup is refused with its damaged part, or restored to the letter. */

import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BackscrollError, backup, open, restore, verifyBackup } from "../src/index.ts";
import { openStore } from "../src/open.ts";
import { sumsOf } from "../src/store/backup-seal.ts";
import { runCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import { repeats } from "./support/repeats.ts";

let file: string;
/** The checksums of an undamaged restore: all rows. */
let whole: string;

async function rowsOf(address: string): Promise<string> {
  const store = await openStore(address, { readOnly: true, inThread: true });
  return JSON.stringify(await sumsOf(store.dump()).finally(() => store.close()));
}

beforeAll(async () => {
  const folder = createFolder(afterAll);
  {
    await using engine = await open(join(folder, "store.db"), { inThread: true });
    for (let s = 0; s < 4; s++) {
      const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
      const messages = Array.from({ length: 60 }, (_, i) => ({
        role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: `message ${i} of ${s}: ${"the tax of an order is rounded ".repeat(i)}`,
      }));
      await session.append(messages);
    }
  }
  file = join(folder, "backup.db");
  await backup(join(folder, "store.db"), file);
  await restore(file, join(folder, "restored.db"));
  whole = await rowsOf(join(folder, "restored.db"));
});

/** Restores a changed copy of the backup; gives whether it was refused. */
async function isRefused(change: (copy: string, bytes: Buffer) => void): Promise<boolean> {
  const copy = join(createFolder(), "copy.db");
  copyFileSync(file, copy);
  change(copy, readFileSync(copy));
  const target = createFolder();
  const verdict = await verifyBackup(copy).then(
    ({ sealed }) => (sealed ? "sealed" : "without checksums"),
    (error: unknown) => error,
  );
  const failure = await restore(copy, join(target, "restored.db")).catch((error: unknown) => error);
  if (!(failure instanceof Error)) {
    expect([verdict, await rowsOf(join(target, "restored.db"))]).toEqual([
      expect.any(String),
      whole,
    ]);
    return false;
  }
  expect(failure).toMatchObject({ code: "store_corrupt", details: { backup: copy } });
  expect(failure.message).toMatch(/^the backup .* is damaged: .+; restore another one/s);
  expect([(verdict as BackscrollError).code, readdirSync(target)]).toEqual(["store_corrupt", []]);
  return true;
}

function flip(position: number, bit: number) {
  return (copy: string, bytes: Buffer) => {
    bytes[position] = (bytes[position] as number) ^ (1 << bit);
    writeFileSync(copy, bytes);
  };
}

describe("a damaged backup", () => {
  test("with a flipped bit is refused, unless the bit is in no row", async () => {
    const size = readFileSync(file).length;
    const next = seeded(SEED);
    let refused = 0;
    const rounds = repeats(25, 2_000);
    for (let i = 0; i < rounds; i++) {
      const position = Math.floor(next() * size);
      if (await isRefused(flip(position, i % 8))) refused++;
    }
    // Not vacuous; indexes and free space are not read.
    expect(refused).toBeGreaterThan(rounds / 5);
  });

  test("that is cut off, or has an overwritten page, is refused", async () => {
    const size = readFileSync(file).length;
    for (const share of [0.01, 0.3, 0.6, 0.98]) {
      const cut = Math.floor(size * share);
      expect([share, await isRefused((copy) => truncateSync(copy, cut))]).toEqual([share, true]);
    }
    const pages = size / 2_048;
    let refused = 0;
    for (let page = 1; page < pages; page += Math.ceil(pages / 12)) {
      const isOne = await isRefused((copy, bytes) => {
        bytes.fill(0, page * 2_048, (page + 1) * 2_048);
        writeFileSync(copy, bytes);
      });
      if (isOne) refused++;
    }
    expect(refused).toBeGreaterThan(3);
  });

  test("leaves no row on PostgreSQL", async () => {
    const bytes = readFileSync(file);
    const copy = join(createFolder(), "copy.db");
    const place = bytes.indexOf("message 7 of 2");
    const at = place >= 0 ? place : Math.floor(bytes.length / 2);
    flip(at, 0)(copy, bytes);
    const address = await createDatabase();
    const isWhole = await verifyBackup(copy).then(
      () => true,
      () => false,
    );
    const failure = await restore(copy, address).catch((error: unknown) => error);
    expect(failure instanceof BackscrollError).toBe(!isWhole);
    if (isWhole) return;
    await using engine = await open(address, { inThread: true });
    expect(await engine.listTenants()).toEqual([]);
  });
});

test("a backup that was opened as a store has no checksums, and is restored", async () => {
  const copy = join(createFolder(), "copy.db");
  copyFileSync(file, copy);
  {
    await using engine = await open(copy, { inThread: true });
    await engine.createSession({ agent: "coder", createdBy: "ana" });
  }
  expect(await verifyBackup(copy)).toMatchObject({ sealed: false });
  const target = join(createFolder(), "restored.db");
  await restore(copy, target);
  expect(await rowsOf(target)).not.toBe(whole);
});

test("the command checks a backup without restoring it", async () => {
  const good = await runCli(["backup", "--verify", file]);
  expect([good.code, good.stdout]).toEqual([
    0,
    expect.stringMatching(/^[\d,]+ rows in .*backup\.db match their checksums\n$/),
  ]);
  const copy = join(createFolder(), "copy.db");
  copyFileSync(file, copy);
  truncateSync(copy, 50_000);
  const bad = await runCli(["backup", "--verify", copy]);
  expect([bad.code, bad.stdout]).toEqual([7, ""]);
  expect(bad.stderr).toMatch(/the backup .* is damaged: /);
});
