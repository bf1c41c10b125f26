/**
 * Power loss, simulated: it loses the writes that the system had not yet synced.
 *
 * The default durability syncs the write-ahead log at each commit, so a loss can only truncate it.
 * Here copies of a store are cut at random bytes of the log: each must open, hold a prefix of the
 * acknowledged writes, and verify. A cut after an acknowledgement must not lose it.
 */

import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Engine, open, textOf } from "../src/index.ts";
import type { StoreLoss } from "../src/types.ts";
import { createFolder } from "./support/folder.ts";
import { SEED, seeded } from "./support/random.ts";
import { isStress, repeats } from "./support/repeats.ts";

const CUTS = repeats(12, 500);

test("a store survives a write-ahead log that was cut anywhere", async () => {
  const folder = createFolder();
  const original = join(folder, "original.db");
  await using engine = await open(original, { inThread: true });
  const session = await engine.createSession({ id: "cut", agent: "test", createdBy: "test" });

  /** The log's length at each acknowledgement. */
  const acknowledged: { readonly text: string; readonly logBytes: number }[] = [];
  // The session's creation is in the log, too: an earlier cut loses everything.
  const startBytes = logBytes(original);
  for (let n = 0; n < 60; n++) {
    // One in ten is large enough for a blob, and so for many pages.
    const text = n % 10 === 3 ? `message ${n} `.repeat(1_000) : `message ${n}`;
    await session.append({ role: "user", content: text });
    acknowledged.push({ text, logBytes: logBytes(original) });
  }
  const database = readFileSync(original);
  const log = readFileSync(`${original}-wal`);
  expect(log.length).toBe(acknowledged.at(-1)?.logBytes);

  const random = seeded(SEED);
  const lengths = Array.from({ length: CUTS }, () => Math.floor(random() * (log.length + 1)));
  // Cuts at and around acknowledgements.
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
    // A prefix without a gap: at least the acknowledged writes, at most all writes.
    expect(cut.texts).toEqual(texts.slice(0, cut.texts.length));
    expect(cut.texts.length).toBeGreaterThanOrEqual(promised.length);
    expect(cut.texts.length).toBeLessThanOrEqual(promised.length + 1);
    if (length >= startBytes) expect(cut.sessions).toBe(1);
  }
});

test("a log with a hole ends at the hole, and later commits are reported", async () => {
  const folder = createFolder();
  const original = join(folder, "original.db");
  await using engine = await open(original, { inThread: true });
  const session = await engine.createSession({ id: "cut", agent: "test", createdBy: "test" });
  const texts = Array.from({ length: 60 }, (_, n) => `message ${n}`);
  /** The log's length after each append. */
  const lengths: number[] = [];
  for (const content of texts) {
    await session.append({ role: "user", content });
    lengths.push(logBytes(original));
  }
  const log = readFileSync(`${original}-wal`);

  // Blocks may reach the disk out of order, leaving zeros. A hole in the last transactions looks like
  // a torn, unacknowledged one, and is not reported.
  const end = lengths.at(-3) ?? 0;
  let holes = 0;
  for (let offset = 4_096; offset + 512 <= end; offset += 20_480 + 512) {
    const copy = join(folder, `hole-${offset}.db`);
    copyFileSync(original, copy);
    const torn = Buffer.from(log);
    torn.fill(0, offset, offset + 512);
    // Where the log already had zeros, nothing changes.
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

/** Opens a copy without its `-shm` file, and verifies it. */
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
  // It accepts writes again.
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
