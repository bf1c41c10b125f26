/** Node runs what it finds in its compile cache, so nobody else may write there. */

import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const IS_POSIX = process.platform !== "win32";

/** Runs a command with a home and an empty temporary folder of its own. */
async function start(home: string) {
  const temporary = createFolder();
  const env = { HOME: home, TMPDIR: temporary, NODE_COMPILE_CACHE: "" };
  const { code, stderr } = await runCli(["--version"], { env });
  expect([code, stderr, readdirSync(temporary)]).toEqual([0, "", []]);
}

/** A home whose cache folder `spoil` changes, and the names in that folder after a command. */
async function cachedIn(spoil: (compiled: string) => void): Promise<string[]> {
  const home = createFolder();
  const compiled = join(home, ".cache/backscroll/compiled");
  mkdirSync(compiled, { recursive: true, mode: 0o700 });
  spoil(compiled);
  await start(home);
  return readdirSync(compiled);
}

test.runIf(IS_POSIX)("the cache is in a folder that only its owner may write", async () => {
  const home = createFolder();
  await start(home);
  const folder = join(home, ".cache/backscroll");
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, "compiled"))).not.toEqual([]);
});

test.runIf(IS_POSIX)("a folder that others may write, or a link, is not used", async () => {
  expect(await cachedIn(() => undefined)).not.toEqual([]);
  expect(await cachedIn((folder) => chmodSync(folder, 0o777))).toEqual([]);
  expect(await cachedIn((folder) => chmodSync(join(folder, ".."), 0o722))).toEqual([]);
  expect(await cachedIn((folder) => chmodSync(join(folder, "../.."), 0o777))).toEqual([]);
  const foreign = createFolder();
  const throughLink = await cachedIn((folder) => {
    rmSync(folder, { recursive: true });
    symlinkSync(foreign, folder);
  });
  expect([throughLink, readdirSync(foreign)]).toEqual([[], []]);
});

test("a command starts without a home", async () => {
  await start(join(createFolder(), "none"));
});
