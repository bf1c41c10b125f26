import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** A longer file probably holds two ideas. */
const MAX_LINES = 500;
/** Larger folders probably hold two ideas. Tests and cases do not count. */
const MAX_FILES = 24;

/** Allowed longer files, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  "test/package.test.ts": "Pins every public name as a literal, and grows with the surface alone.",
};

/** Allowed larger folders, each with its reason. */
const LARGE_FOLDERS: Readonly<Record<string, string>> = {
  "src/model": "Has a file for each kind of thing; inputs have a folder of their own.",
};

test("every file above 500 lines is listed, with its reason", () => {
  const lines = filesOf(
    "src/**/*.{ts,tsx,css}",
    "test/**/*.ts",
    "bench/**/*.ts",
    "scripts/*.{js,ts}",
    "bin/*.js",
  ).map((file) => [file, readFileSync(join(ROOT, file), "utf8").split("\n").length - 1] as const);
  const long = lines.filter(([, count]) => count > MAX_LINES);
  expect(long.map(([file]) => file)).toEqual(Object.keys(LONG_FILES).sort());
});

test("every folder above 24 source files is listed, with its reason", () => {
  const sources = filesOf("src/**/*.{ts,tsx}").filter((file) => !/\.(test|cases)\.ts$/.test(file));
  const folders = Map.groupBy(sources, (file) => file.slice(0, file.lastIndexOf("/")));
  const large = [...folders].filter(([, files]) => files.length > MAX_FILES);
  expect(large.map(([folder]) => folder)).toEqual(Object.keys(LARGE_FOLDERS).sort());
});

test("every reason is a sentence", () => {
  const reasons = [...Object.values(LONG_FILES), ...Object.values(LARGE_FOLDERS)];
  for (const reason of reasons) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
});

function filesOf(...patterns: readonly string[]): string[] {
  return globSync([...patterns], { cwd: ROOT, exclude: ["**/node_modules/**"] })
    .map((file) => file.split(sep).join("/"))
    .sort();
}
