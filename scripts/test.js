/**
 * `npm test`: the build and then the tests, in parallel with format, lint and types, which use the CPU
 * time that the others spend waiting for files and processes. The first failing check ends the run.
 * Arguments go to vitest: `npm test -- FILE`.
 */

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = join(ROOT, "node_modules");
const TSC = join(PACKAGES, "typescript/bin/tsc");

/** Type checkers repeat the work on shared types: four take 21 s of CPU time, one takes 17 s. */
const TYPES = [TSC, "--noEmit", "--checkers", "1"];

/**
 * For the type checker, a program in Go: collecting its garbage at five times the live size instead of
 * twice takes a fifth off its CPU time, for half a gigabyte of memory.
 */
const ENV = { GOGC: "400", ...process.env };

const BUILD = [join(ROOT, "scripts/build.js")];

const CHECKS = [
  [join(PACKAGES, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."],
  TYPES,
  [...TYPES, "-p", "src/page"],
];

process.exitCode = await testBesideChecks();

/** The exit code of the first check that fails, the build included, else that of the tests. */
async function testBesideChecks() {
  const stop = new AbortController();
  const vitest = [join(PACKAGES, "vitest/vitest.mjs"), "run", ...process.argv.slice(2)];
  /** @param {string[]} words */
  const check = async (words) => {
    const code = await run(words, stop.signal);
    if (code !== 0) stop.abort();
    return code;
  };
  const tests = check(BUILD).then((code) => code || run(vitest, stop.signal));
  const codes = await Promise.all([...CHECKS.map(check), tests]);
  return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Runs a Node script and gives its exit code; 1 if `signal` ended it.
 * @param {string[]} words
 * @param {AbortSignal} signal
 * @returns {Promise<number>}
 */
function run(words, signal) {
  if (signal.aborted) return Promise.resolve(1);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: ROOT, env: ENV, stdio: "inherit" });
    const end = () => child.kill();
    signal.addEventListener("abort", end);
    child.on("error", reject);
    child.on("close", (code) => {
      signal.removeEventListener("abort", end);
      resolve(code ?? 1);
    });
  });
}
