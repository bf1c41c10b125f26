import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, test } from "vitest";
import { KNOWN_KEY } from "../src/secrets/known-keys.ts";
import { HINTS, NAMED_RULES } from "../src/secrets/named-secrets.ts";
import { cpuMs } from "./support/cpu-time.ts";
import { type Hostile, hostileText, hostileTexts } from "./support/hostile-text.ts";
import { isStress } from "./support/repeats.ts";
import { patternsIn } from "./support/source-patterns.ts";

const ROOT = join(import.meta.dirname, "..");
const FILES = globSync("src/**/*.{ts,tsx}", { cwd: ROOT })
  .map((file) => file.split(sep).join("/"))
  .filter((file) => !/\.(test|cases|stress)\.tsx?$/.test(file));

/**
 * Lengths of texts, and the CPU time above which one of them is measured again.
 * In the last step, linear patterns take hundredths of a millisecond and squared ones 5 and more;
 * cubic and exponential ones end in the first two.
 */
const STEPS: readonly { readonly length: number; readonly suspectMs: number }[] = [
  { length: 20, suspectMs: 3 },
  { length: 256, suspectMs: 3 },
  { length: 3_072, suspectMs: 3 },
];

test("every pattern of the sources takes linear time, whatever the text", () => {
  const found = FILES.flatMap((file) =>
    patternsIn(file, readFileSync(join(ROOT, file), "utf8")).map((each) => ({ file, ...each })),
  );
  // Fewer would mean that the finder has stopped working.
  expect(found.length).toBeGreaterThan(500);
  const once = new Map(found.map((each) => [String(each.pattern), each]));
  const slow = [...once.values()].flatMap(({ file, line, pattern }) => {
    const text = slowText(pattern);
    return text === undefined ? [] : `${file}:${line} ${pattern} on ${text}`;
  });
  expect(slow).toEqual([]);
});

test("patterns of squared, cubic and exponential time are found", () => {
  const source = String.raw`
    const blanks = /^\s*\[?\s*\{/;
    const end = text.replace(/\d+$/, "");
    const query = /<query>\s*([\s\S]*?)\s*<\/query>/;
    const words = new RegExp("^(?:" + WORD + "|\\w+)*$", "u");`;
  const found = patternsIn("sample.ts", source);
  expect(found.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
  expect(found.filter(({ pattern }) => slowText(pattern) === undefined)).toEqual([]);
});

test("the patterns of secrets, which are made of tables, take linear time too", () => {
  const hints = new Map(
    HINTS.map(({ pattern }) => [isStress ? pattern : shapeOf(pattern), pattern]),
  );
  const patterns = [
    KNOWN_KEY,
    ...NAMED_RULES.map(({ pattern }) => pattern),
    ...[...hints.values()].map((pattern) => new RegExp(pattern, "gi")),
  ];
  const slow = patterns.flatMap((pattern) => {
    const text = slowText(pattern);
    return text === undefined ? [] : `${String(pattern).slice(0, 80)} on ${text}`;
  });
  expect(slow).toEqual([]);
});

/** Hints before the same context differ in their letters, which cost no time. */
function shapeOf(hint: string): string {
  return hint.replace(/^[a-z]{2,}/, "word");
}

/** A description of a text on which a pattern takes more than linear time. */
function slowText(pattern: RegExp): string | undefined {
  const texts = hostileTexts(pattern);
  // Where every quantifier has a bound, the time of a long text is linear: only nested bounds cost.
  const isBounded = !/[*+]|\{\d+,\}/.test(pattern.source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, ""));
  for (const { length, suspectMs } of isBounded ? STEPS.slice(0, -1) : STEPS) {
    const slow = texts.find((each) => isSlow(pattern, each, length, suspectMs));
    if (slow === undefined) continue;
    const [before, unit, end] = [slow.before, slow.unit, slow.end].map((part) =>
      JSON.stringify(part),
    );
    return `${before} + ${unit} repeated + ${end}`;
  }
  return undefined;
}

function isSlow(pattern: RegExp, hostile: Hostile, length: number, suspectMs: number): boolean {
  const text = hostileText(hostile, length);
  const start = performance.now();
  run(pattern, text);
  // No CPU time is longer than the time that passes, whose clock is read twenty times as fast.
  if (performance.now() - start < suspectMs) return false;
  // The least of several: a busy machine, compilation and collection of garbage only add time.
  const timeOf = (measured: string) =>
    Math.min(...Array.from({ length: 5 }, () => cpuMs(() => run(pattern, measured))));
  // A quarter of the length takes a linear pattern a quarter of the time.
  const quarter = Math.max(0.5, timeOf(hostileText(hostile, length / 4)));
  const limit = Math.max(suspectMs, 8 * quarter);
  return cpuMs(() => run(pattern, text)) > limit && timeOf(text) > limit;
}

/** As the sources use it: a global pattern finds every match. */
function run(pattern: RegExp, text: string): void {
  if (pattern.global) text.replace(pattern, "");
  else pattern.test(text);
}
