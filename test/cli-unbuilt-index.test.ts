/** The command line on a store whose index is far behind, such as one that was just restored. */

import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../src/open.ts";
import { openServer } from "../src/server/serve.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-unbuilt-"));
const db = join(folder, "store.db");
/** Longer than 16,384 changes: of such a tail a search reads only the newest 4,096. */
const MESSAGES = 17_000;
const CHANGES = MESSAGES + 1;

afterAll(() => removeFolder(folder));

beforeAll(async () => {
  await using memory = await openUnbuilt(db);
  const session = await memory.createSession({ id: "long", agent: "coder", createdBy: "ana" });
  const said = Array.from({ length: MESSAGES }, (_, i) => ({
    role: "user" as const,
    actor: "ana",
    content: i === 5 ? "the quaggamire plan" : `m${i}`,
  }));
  for (let i = 0; i < MESSAGES; i += 1_000) await session.append(said.slice(i, i + 1_000));
  expect(await memory.indexStatus()).toMatchObject({ lag: CHANGES, segments: 0 });
});

/** Opens the store without background indexing. */
function openUnbuilt(path: string) {
  return open(path, { durability: "process", inThread: true, indexing: { flushAt: 0 } });
}

function cli(address: string, ...args: string[]): Promise<Ran> {
  return callCli(args, { env: { HOME: folder, BACKSCROLL_DB: address } });
}

async function lagOf(path: string): Promise<number> {
  await using memory = await open(path, { readOnly: true, inThread: true });
  return (await memory.indexStatus()).lag;
}

test("a search at a server reports that the index is incomplete", async () => {
  await using memory = await openUnbuilt(db);
  const server = await openServer(memory, { version: "0.0.0", port: 0 });
  try {
    const { code, stdout, stderr } = await cli(server.url, "search", "quaggamire");
    expect([code, stdout]).toEqual([1, "Nothing found in what is indexed so far.\n"]);
    expect(stderr).toContain("older messages may be missing. To build it now: ");
    expect(stderr).toContain("doctor --rebuild");
  } finally {
    await server.stop(100);
  }
});

test("restore builds the index before it ends", async () => {
  const copy = join(folder, "copy.db");
  const restored = join(folder, "restored.db");
  expect((await cli(db, "backup", copy)).code).toBe(0);
  const ran = await cli(restored, "restore", copy);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(await lagOf(restored)).toBe(0);
  // A backup has no index.
  expect(await lagOf(copy)).toBe(CHANGES);
});

test("a search builds the index where the tail is too long, and finds messages of the tail", async () => {
  const own = join(folder, "own.db");
  copyFileSync(db, own);
  const { code, stdout } = await cli(own, "search", "quaggamire");
  expect([code, stdout]).toEqual([0, expect.stringContaining("the quaggamire plan")]);
  expect(await lagOf(own)).toBe(0);
  const again = await cli(own, "search", "quaggamire");
  expect([again.code, again.stderr]).toEqual([0, ""]);
});
