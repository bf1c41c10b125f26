/** Secrets that the user names by what they begin with. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const KEY = "acme.live:k7Qz-never-shown";

function world(config: object): (...args: string[]) => ReturnType<typeof runCli> {
  const home = createFolder();
  mkdirSync(join(home, ".backscroll"));
  writeFileSync(join(home, ".backscroll", "config.json"), JSON.stringify(config));
  const env = { HOME: home, BACKSCROLL_DB: join(home, "x.db") };
  return (...args) => runCli(args, { env, cwd: home });
}

async function store(cli: ReturnType<typeof world>): Promise<string> {
  const id = (await cli("new", "--agent", "a", "--by", "ana")).stdout.trim();
  await cli("append", id, `the staging key is ${KEY}, of acmexlive:k7Qz`, "--actor", "ana");
  return id;
}

test("secrets with a prefix of the configuration are masked and not indexed", async () => {
  const cli = world({ secrets: { prefixes: ["acme.live:"] } });
  const id = await store(cli);
  const shown = (await cli("show", id)).stdout;
  expect(shown).toContain("the staging key is [redacted], of acmexlive:k7Qz");
  expect((await cli("search", "staging", "key")).stdout).not.toContain("k7Qz-never");
  expect((await cli("search", "never-shown")).code).toBe(1);
  expect((await cli("show", id, "--raw")).stdout).toContain(KEY);
});

test("without the configuration the same text is shown and found", async () => {
  const cli = world({});
  const id = await store(cli);
  expect((await cli("show", id)).stdout).toContain(KEY);
  expect((await cli("search", "never-shown")).code).toBe(0);
});

test("a prefix that is a pattern is refused by its key", async () => {
  const ran = await world({ secrets: { prefixes: ["(a+)+"] } })("config");
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("secrets.prefixes must be")]);
});
