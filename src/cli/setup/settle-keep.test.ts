import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { settleKeep } from "./settle-keep.ts";

const machine = (home: string) => ({ home, variables: {}, platform: "linux" });

test.each([
  [["90d"], "90d"],
  [["y"], "365d"],
  [["soon", "1h", "F"], "forever"],
  [[""], "forever"],
])("the answers %j are asked for, and written, once", async (answers, keep) => {
  const home = createFolder();
  mkdirSync(join(home, ".backscroll"));
  const path = join(home, ".backscroll/config.json");
  writeFileSync(path, '{\n  "silence": "whole"\n}\n');
  const left = [...answers];
  const ask = () => Promise.resolve(left.shift() ?? "never asked");
  expect(await settleKeep(machine(home), ask)).toEqual({ keep, path });
  expect(left).toEqual([]);
  expect(readFileSync(path, "utf8")).toBe(`{\n  "silence": "whole",\n  "keep": "${keep}"\n}\n`);
  expect(readdirSync(join(home, ".backscroll"))).toEqual(["config.json"]);
  expect(await settleKeep(machine(home), ask)).toBeUndefined();
});

test("without a person the default is named, and nothing is written", async () => {
  const home = createFolder();
  const path = join(home, ".backscroll/config.json");
  expect(await settleKeep(machine(home), undefined)).toEqual({ keep: "forever", path });
  expect(existsSync(path)).toBe(false);
});

test("a configuration that is wrong is an error, and stays", async () => {
  const home = createFolder();
  mkdirSync(join(home, ".backscroll"));
  const path = join(home, ".backscroll/config.json");
  writeFileSync(path, '{ "kepe": "90d" }');
  await expect(settleKeep(machine(home), undefined)).rejects.toThrow("did you mean keep?");
  expect(readFileSync(path, "utf8")).toBe('{ "kepe": "90d" }');
});
