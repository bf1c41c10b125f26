/**
 * What `npm test` runs: format and lint, types, and the build at the same time, since none needs the
 * other; then the tests. Words of the command line go to vitest: `npm test -- FILE`.
 */

import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = join(ROOT, "node_modules");

const codes = await Promise.all([
  run([join(PACKAGES, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."]),
  run([join(PACKAGES, "typescript/bin/tsc"), "--noEmit"]),
  run([join(PACKAGES, "typescript/bin/tsc"), "--noEmit", "-p", "src/page"]),
  run([join(ROOT, "scripts/build.js")]),
]);
process.exitCode =
  codes.find((code) => code !== 0) ??
  (await run([join(PACKAGES, "vitest/vitest.mjs"), "run", ...process.argv.slice(2)]));

/**
 * Runs a script of Node's to its end, and gives its exit code.
 * @param {string[]} words
 * @returns {Promise<number>}
 */
function run(words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd: ROOT, stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
