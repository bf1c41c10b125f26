/**
 * Power loss loses what the system had not yet written to the disk.
 *
 * The default durability syncs the write-ahead log at each commit, so a loss can only truncate it.
 * Here copies of a store are cut at random bytes of the log: each must open, hold a prefix of the
 * acknowledged writes, and verify. A cut after an acknowledgement must not lose it.
 */

import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Engine, open, type StoreLoss, textOf } from "../src/index.ts";
import { createFolder } from "./support/folder.ts";
import { SEED, seeded } from "./support/random.ts";
import { isStress, repeats } from "./support/repeats.ts";

const CUTS = repeats(12, 500);

test("a store survives a write-ahead log that was cut anywhere", async () => {
  const folder = createFolder();
  const original = join(folder, "original.db");
  await using engine = await open(original, { inThread: true });
  const session = await engine.createSession({ id: "cut", agent: "test", createdBy: "test" });

  /** How long the log was when each append was acknowledged. */
  const acknowledged: { readonly text: string; readonly logBytes: number }[] = [];
  // The session itself is in the log, too: a cut before this loses it all.
  const startBytes = logBytes(original);
  for (let n = 0; n < 60; n++) {
    // One in ten is large enough for a blob of its own, and so for many pages.
    const text = n % 10 === 3 ? `message ${n} `.repeat(1_000) : `message ${n}`;
    await session.append({ role: "user", content: text });
    acknowledged.push({ text, logBytes: logBytes(original) });
  }
  const database = readFileSync(original);
  const log = readFileSync(`${original}-wal`);
  expect(log.length).toBe(acknowledged.at(-1)?.logBytes);

  const random = seeded(SEED);
  const lengths = Array.from({ length: CUTS }, () => Math.floor(random() * (log.length + 1)));
  // The moments right at an acknowledgement are the interesting ones.
  for (const [n, { logBytes: exact }] of acknowledged.entries()) {
    if (isStress || n % 4 === 3) lengths.push(exact, exact - 1);
  }
  for (const length of lengths) {
    const copy = join(folder, "cut.db");
    writeFileSync(copy, database);
    writeFileSync(`${copy}-wal`, log.subarray(0, length));
    const cut = await readCut(copy);
    expect(cut.losses).toEqual([]);
    const promised = acknowledged.filter((entry) => entry.logBytes <= length);
    const texts = acknowledged.map((entry) => entry.text);
    // A prefix without a gap: at least what was acknowledged by then, at most what was written.
    expect(cut.texts).toEqual(texts.slice(0, cut.texts.length));
    expect(cut.texts.length).toBeGreaterThanOrEqual(promised.length);
    expect(cut.texts.length).toBeLessThanOrEqual(promised.length + 1);
    if (length >= startBytes) expect(cut.sessions).toBe(1);
  }
});

test("a log whose middle did not reach the disk ends there", async () => {
  const folder = createFolder();
  const original = join(folder, "original.db");
  await using engine = await open(original, { inThread: true });
  const session = await engine.createSession({ id: "cut", agent: "test", createdBy: "test" });
  const texts = Array.from({ length: 60 }, (_, n) => `message ${n}`);
  /** How long the log was after each append. */
  const lengths: number[] = [];
  for (const content of texts) {
    await session.append({ role: "user", content });
    lengths.push(logBytes(original));
  }
  const log = readFileSync(`${original}-wal`);

  // Blocks may reach the disk out of order: zeros where one did not. A hole in the last transactions
  // looks like the rest of one that was never acknowledged, and is not told.
  const end = lengths.at(-3) ?? 0;
  let holes = 0;
  for (let offset = 4_096; offset + 512 <= end; offset += 20_480 + 512) {
    const copy = join(folder, `hole-${offset}.db`);
    copyFileSync(original, copy);
    const torn = Buffer.from(log);
    torn.fill(0, offset, offset + 512);
    // Where there were zeros before, nothing is cut.
    if (torn.equals(log)) continue;
    holes++;
    writeFileSync(`${copy}-wal`, torn);
    const { texts: found, losses } = await readCut(copy);
    expect(found).toEqual(texts.slice(0, found.length));
    expect(found.length).toBeLessThan(texts.length);
    // Commits after a hole are reported, and kept.
    expect(losses).toEqual([
      expect.objectContaining({ kind: "log", kept: expect.stringContaining(`${copy}-wal.kept-`) }),
    ]);
  }
  expect(holes).toBeGreaterThan(5);
});

/** Opens a copy that has no index of its log beside it, and checks all that it holds. */
async function readCut(
  path: string,
): Promise<{ texts: string[]; sessions: number; losses: StoreLoss[] }> {
  const losses: StoreLoss[] = [];
  const onLoss = (loss: StoreLoss) => void losses.push(loss);
  await using engine = await open(path, { inThread: true, onLoss });
  const report = await engine.verify();
  expect(report.problems).toEqual([]);
  const sessions = (await engine.listSessions()).sessions.length;
  const texts = sessions === 0 ? [] : await readTexts(engine);
  // And it can be written to again.
  if (sessions > 0) {
    const session = await engine.getSession("cut");
    const entry = await session.append({ role: "user", content: "afterwards" });
    expect(entry.sequence).toBe(texts.length + 1);
  }
  return { texts, sessions, losses };
}

async function readTexts(engine: Engine): Promise<string[]> {
  const { messages } = await engine.listMessages("cut", { limit: 500 });
  return messages.map((message) => textOf(message.blocks));
}

function logBytes(path: string): number {
  return existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0;
}
