import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** A file that grows past this holds more than one idea: split it. */
const MAX_LINES = 400;

test("no source file is longer than a reader's patience", () => {
  const files = globSync(
    ["src/**/*.{ts,tsx,css}", "test/**/*.ts", "bench/**/*.ts", "scripts/*.{js,ts}", "bin/*.js"],
    { cwd: ROOT },
  );
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(ROOT, file), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ file, lines }) => `${file} has ${lines} lines`);
  expect(long).toEqual([]);
});

test("no folder of sources hides its files in a crowd", () => {
  const counts = new Map<string, number>();
  for (const file of globSync("src/**/*.{ts,tsx}", { cwd: ROOT })) {
    if (/\.(test|cases)\.ts$/.test(file)) continue;
    const folder = file.slice(0, file.lastIndexOf("/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  // About a dozen is the aim; beyond twice that, the folder wants to be two.
  const crowded = [...counts].filter(([, count]) => count > 24);
  expect(crowded).toEqual([]);
});
