/**
 * The long versions of tests.
 *
 * `stress` runs kills, cuts, races and long properties in full, and tests that depend on timing.
 * `fuzz` runs every property and fuzzer with fresh seeds until its time is up, and prints each
 * failure with the command that repeats it.
 */

import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const USAGE = `Usage: npm run stress -- [FILE…]
       npm run fuzz -- [--seconds N] [--seed S] [FILE…]

stress   kills, cuts, races and long properties in full (about an hour)
fuzz     properties and fuzzers with fresh seeds, for N seconds (60) or with one seed`;

const [mode = "", ...args] = process.argv.slice(2);
process.exitCode = mode === "stress" ? stress() : mode === "fuzz" ? fuzz() : usage();

function usage(): number {
  console.error(USAGE);
  return 2;
}

function stress(): number {
  const { positionals, help } = parse({});
  if (help) return usage();
  const files =
    positionals.length > 0 ? positionals : filesThat(/support\/repeats\.ts"|\.stress\.ts$/);
  console.error(`Running ${files.length} files in full …`);
  return run(files, { BACKSCROLL_STRESS: "1" }, ["--reporter=default"]);
}

function fuzz(): number {
  const { positionals, values, help } = parse({
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
  });
  const seconds = Number(values["seconds"]);
  if (help || !(seconds > 0)) return usage();
  const files = positionals.length > 0 ? positionals : filesThat(/from "fast-check"/);
  const end = Date.now() + seconds * 1000;
  const repeats = new Set<string>();
  let rounds = 0;
  do {
    const seed = String(values["seed"] ?? randomInt(2 ** 31));
    rounds++;
    console.error(`Round ${rounds}: ${files.length} files with seed ${seed} …`);
    for (const file of failing(files, seed)) {
      repeats.add(`npm run fuzz -- --seed ${seed} ${file}`);
    }
  } while (values["seed"] === undefined && Date.now() < end);
  console.log(`${rounds} rounds of ${files.length} files: ${repeats.size || "no"} failures`);
  for (const command of repeats) console.log(`  ${command}`);
  return repeats.size === 0 ? 0 : 1;
}

/** Runs `files` with one seed, and gives those that failed. */
function failing(files: readonly string[], seed: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-fuzz-"));
  try {
    const report = join(folder, "report.json");
    const env = { BACKSCROLL_SEED: seed, BACKSCROLL_STRESS: "1" };
    const words = ["--reporter=dot", "--reporter=json", `--outputFile.json=${report}`];
    if (run(files, env, words) === 0) return [];
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
      readonly testResults: readonly { readonly name: string; readonly status: string }[];
    };
    const failed = testResults.filter(({ status }) => status === "failed");
    return failed.map(({ name }) => name.slice(ROOT.length + 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The test files whose text or name matches. */
function filesThat(wanted: RegExp): string[] {
  return globSync(["src/**/*.test.ts", "test/**/*.test.ts", "test/**/*.stress.ts"], { cwd: ROOT })
    .filter((file) => wanted.test(file) || usesIn(file, wanted))
    .sort();
}

/** Whether a test file matches, or one of the cases that it runs. */
function usesIn(file: string, wanted: RegExp): boolean {
  const text = readFileSync(join(ROOT, file), "utf8");
  const cases = [...text.matchAll(/from "(\.[^"]*\.cases\.ts)"/g)].map(([, path = ""]) =>
    readFileSync(join(ROOT, dirname(file), path), "utf8"),
  );
  return [text, ...cases].some((each) => wanted.test(each));
}

function run(
  files: readonly string[],
  env: Record<string, string>,
  words: readonly string[],
): number {
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const ran = spawnSync(process.execPath, [vitest, "run", ...words, ...files], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, BACKSCROLL_BUILT: "1", ...env },
  });
  return ran.status ?? 1;
}

interface Parsed {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly help: boolean;
}

function parse(options: ParseArgsOptionsConfig): Parsed {
  try {
    const { positionals, values } = parseArgs({
      args,
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return { positionals, values, help: values["help"] === true };
  } catch (error) {
    console.error(String(error instanceof Error ? error.message : error));
    return { positionals: [], values: {}, help: true };
  }
}
