/**
 * `npm test`: the build, then the tests in parallel with format, lint and types, which use the CPU time
 * that tests spend waiting for disks and processes. The first failing check ends the run. Arguments go
 * to vitest: `npm test -- FILE`.
 */

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = join(ROOT, "node_modules");
const TSC = join(PACKAGES, "typescript/bin/tsc");

/** Type checkers repeat the work on shared types: four take 21 s of CPU time, one takes 17 s. */
const TYPES = [TSC, "--noEmit", "--checkers", "1"];

const CHECKS = [
  [join(PACKAGES, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."],
  TYPES,
  [...TYPES, "-p", "src/page"],
];

process.exitCode = (await run([join(ROOT, "scripts/build.js")])) || (await testBesideChecks());

/** The exit code of the first check that fails, else that of the tests. */
async function testBesideChecks() {
  const stop = new AbortController();
  const tests = run(
    [join(PACKAGES, "vitest/vitest.mjs"), "run", ...process.argv.slice(2)],
    stop.signal,
  );
  const checks = CHECKS.map(async (words) => {
    const code = await run(words, stop.signal);
    if (code !== 0) stop.abort();
    return code;
  });
  const codes = await Promise.all([...checks, tests]);
  return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Runs a Node script and gives its exit code; 1 if `signal` ended it.
 * @param {string[]} words
 * @param {AbortSignal} [signal]
 * @returns {Promise<number>}
 */
function run(words, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: ROOT, stdio: "inherit" });
    const end = () => child.kill();
    signal?.addEventListener("abort", end);
    child.on("error", reject);
    child.on("close", (code) => {
      signal?.removeEventListener("abort", end);
      resolve(code ?? 1);
    });
  });
}
