/**
 * Flips one bit of the database file. Every read then gives the same answer or reports damage, or a
 * verification reports it. None fails in an unexpected way.
 */

import { mkdtempSync, statSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BackscrollError } from "../src/model/errors.ts";
import { open } from "../src/open.ts";
import {
  type Answers,
  createRichStore,
  type Known,
  knownOf,
  readEverything,
} from "./support/damaged-store.ts";
import { removeFolder } from "./support/folder.ts";
import { isStress } from "./support/repeats.ts";

/** Flipped bits in `npm test`, spread over the file; `npm run stress` flips every 3,989th. */
const FLIPS = 25;
const STRESS_STEP = 3_989;

/** Error codes of a damaged file. */
const REPORTED = [
  "!store_corrupt",
  "!foreign_database",
  "!needs_migration",
  "!schema_too_new",
  "!schema_too_old",
];

test("a flipped bit has no effect, or is reported by a read or by the verification", {
  timeout: isStress ? 3_600_000 : 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-flips-"));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, "x.db");
  await createRichStore(path);
  const sound = await readSound(path);
  const bits = statSync(path).size * 8;
  const step = isStress ? STRESS_STEP : Math.floor(bits / FLIPS) | 1;
  const wrong: string[] = [];
  const counts = { same: 0, read: 0, verified: 0 };
  for (let bit = 0; bit < bits; bit += step) {
    await flip(path, bit);
    const outcome = await outcomeOf(path, sound);
    await flip(path, bit);
    if (outcome in counts) counts[outcome as keyof typeof counts]++;
    else wrong.push(`bit ${bit} (page ${Math.floor(bit / 8 / 2_048) + 1}): ${outcome}`);
  }
  expect(wrong).toEqual([]);
  // Guards against reads that detect nothing: they report about a quarter of the flips.
  expect(counts.read).toBeGreaterThan(FLIPS / 10);
  expect(await readSound(path)).toEqual(sound);
});

interface Sound {
  readonly known: Known;
  readonly answers: Answers;
}

async function readSound(path: string): Promise<Sound> {
  await using engine = await open(path, { inThread: true, readOnly: true });
  const known = await knownOf(engine);
  const answers = await readEverything(engine, known);
  expect([...answers.values()].filter((answer) => answer.startsWith("!"))).toEqual([]);
  expect(await engine.verify()).toMatchObject({ ok: true, damage: [], problems: [] });
  return { known, answers };
}

/** `same`, `read` or `verified`: which check reported it. Otherwise the failure. */
async function outcomeOf(path: string, sound: Sound): Promise<string> {
  try {
    await using engine = await open(path, { inThread: true, readOnly: true });
    const answers = await readEverything(engine, sound.known);
    const other = [...answers].filter(([name, answer]) => sound.answers.get(name) !== answer);
    const failed = other.find(([, answer]) => answer.startsWith("!internal_error"));
    if (failed !== undefined) return failed.join(" is ");
    const isReported = other.some(([, answer]) => REPORTED.includes(answer));
    // Verifying only undetected flips saves a third of the time; the stress run verifies all.
    if (isReported && !isStress) return "read";
    const { ok } = await engine.verify();
    if (other.length === 0) return ok ? "same" : "verified";
    if (ok) return `${other[0]?.[0]} is another, and the verification finds nothing`;
    return isReported ? "read" : "verified";
  } catch (error) {
    if (BackscrollError.is(error) && REPORTED.includes(`!${error.code}`)) return "read";
    return `internal_error ${String((error as Error).stack)}`;
  }
}

async function flip(path: string, bit: number): Promise<void> {
  const file = await openFile(path, "r+");
  const byte = Buffer.alloc(1);
  const at = Math.floor(bit / 8);
  await file.read(byte, 0, 1, at);
  byte.writeUInt8(byte.readUInt8(0) ^ (1 << (bit % 8)), 0);
  await file.write(byte, 0, 1, at);
  await file.close();
}
