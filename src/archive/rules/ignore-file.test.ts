import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { createFolder } from "../../../test/support/folder.ts";
import { SEED, seeded } from "../../../test/support/random.ts";
import { isIgnoredFolder, parseIgnoreFile, readIgnoreFile } from "./archive-rules.ts";

const names = (path: string) => path.split("/").filter((name) => name !== "");
const ignores = (text: string, path: string) => isIgnoredFolder(parseIgnoreFile(text), names(path));

test.each([
  ["", "", true],
  ["# only a remark\n\n", "a/b", true],
  ["*", "", true],
  ["*\r\n", "a/b", true],
  ["/", "", true],
  ["secret", "", false],
  ["secret", "secret", true],
  ["secret/", "a/b/secret/c", true],
  ["secret", "secrets", false],
  ["/secret", "a/secret", false],
  ["/secret", "secret/a", true],
  ["a/secret", "b/a/secret", false],
  ["./a/secret", "a/secret/b", true],
  ["client-*", "work/client-x/src", true],
  ["client-*", "work/client/src", false],
  ["a/*/c", "a/b/c", true],
  ["a/*/c", "a/c", false],
  ["a/**/c", "a/c", true],
  ["a/**/c", "a/b/b/c/d", true],
  ["*a*b*", "xxaxxbxx", true],
  ["open\nclosed", "closed", true],
  ["!open", "open", false],
])("the lines %j on %j: %j", (text, path, expected) => {
  expect(ignores(text, path)).toBe(expected);
});

/** By definition: each star tried with every number of items. */
function fitsSlowly(pattern: readonly string[], path: readonly string[]): boolean {
  const [wanted, ...rest] = pattern;
  if (wanted === undefined) return path.length === 0;
  if (wanted === "**")
    return path.some((_, i) => fitsSlowly(rest, path.slice(i))) || fitsSlowly(rest, []);
  const [name, ...below] = path;
  const isName = (one: string, other: string): boolean =>
    one === ""
      ? other === ""
      : one.startsWith("*")
        ? isName(one.slice(1), other) || (other !== "" && isName(one, other.slice(1)))
        : other !== "" && one[0] === other[0] && isName(one.slice(1), other.slice(1));
  return name !== undefined && isName(wanted, name) && fitsSlowly(rest, below);
}

test("patterns match as their definition says, by brute force", () => {
  const random = seeded(SEED);
  const pick = (all: readonly string[]) => all[Math.floor(random() * all.length)] ?? "";
  const some = (all: readonly string[], most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(all));
  for (let i = 0; i < 3_000; i++) {
    const pattern = [...some(["**", "*", "a", "a*", "*b", "ab", "a*b*"], 5), "**"];
    const path = some(["a", "b", "ab", "aab", "ba"], 5);
    expect([pattern, path, isIgnoredFolder([pattern], path)]).toEqual([
      pattern,
      path,
      fitsSlowly(pattern, path),
    ]);
  }
});

test("a hostile file takes no time", () => {
  const text = `${"*a".repeat(500)}\n`.repeat(60);
  const path = Array.from({ length: 15 }, () => "a".repeat(254)).join("/");
  expect(cpuMs(() => ignores(`${text}${"**/a/".repeat(200)}b\n`, path))).toBeLessThan(2_000);
});

test("a file that cannot be read, and one that is no list, name everything", async () => {
  const folder = createFolder();
  const made = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name, ".backscrollignore");
  };
  mkdirSync(made("folder"));
  writeFileSync(made("large"), "x\n".repeat(40_000));
  symlinkSync("nowhere", made("link"));
  writeFileSync(made("lines"), "x\n");
  const read = async (name: string) => {
    const ignored = await readIgnoreFile(join(folder, name));
    return ignored === undefined ? undefined : isIgnoredFolder(ignored, []);
  };
  const all = await Promise.all(["folder", "large", "link", "lines", "missing", "\0"].map(read));
  expect(all).toEqual([true, true, true, false, undefined, undefined]);
});
