/**
 * Installs missing prerequisites of the other npm scripts.
 *
 * Plain JavaScript that runs on Node 20: it comes before everything else, on a machine that may have
 * nothing but Node 20 and npm. It uses `npm install`, not `npm ci`: the lockfile names optional
 * packages for every platform, and `npm ci` refuses it where a registry does not hold them all.
 *
 * With `--page` it also builds the page. With `--test` it also fetches the oldest
 * Node that the package supports, so that the tests can run the packed tarball on it, the frameworks that
 * adapters are made for (`test/adapters/package.json`), and a browser where there is none
 * (`test-browser.js`).
 */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installBrowser } from "./test-browser.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = "22.18.0";

installDependencies();
if (process.argv.includes("--page")) buildPage();
if (process.argv.includes("--test")) {
  installOldestNode();
  installFrameworks();
  installBrowser(npmSucceeds);
}

function installDependencies() {
  const stamp = join(ROOT, "node_modules", ".backscroll-installed");
  const wanted = createHash("sha256")
    .update(readFileSync(join(ROOT, "package.json")))
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  npm("dependencies", ["install", "--no-save", "--include=dev"], ROOT);
  writeFileSync(stamp, wanted);
}

/** Runs on the installed Node 24: the current one may be too old for the build. */
function buildPage() {
  const node = join(ROOT, "node_modules", ".bin", "node");
  /** @type {import("node:child_process").SpawnSyncOptions} */
  const options = { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" };
  const run = spawnSync(node, [join("scripts", "build-page.js")], options);
  if (run.status !== 0) process.exit(run.status ?? 1);
}

function installOldestNode() {
  const folder = join(ROOT, "node_modules", ".cache", `node-${OLDEST_NODE}`);
  if (existsSync(join(folder, "node_modules", "node", "bin"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  npm(`Node ${OLDEST_NODE}`, ["install", "--no-save", `node@${OLDEST_NODE}`], folder);
}

function installFrameworks() {
  const folder = join(ROOT, "test", "adapters");
  const stamp = join(folder, "node_modules", ".backscroll-installed");
  const wanted = readFileSync(join(folder, "package.json"), "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  // Without the agent's own program, an optional dependency of 200 MB per platform: the tests call the
  // types and functions of the package alone.
  npm("the frameworks of the adapters", ["install", "--no-save", "--omit=optional"], folder);
  writeFileSync(stamp, wanted);
}

/** @param {string} what @param {string[]} args @param {string} cwd */
function npm(what, args, cwd) {
  if (!npmSucceeds(what, args, cwd)) process.exit(1);
}

/** @param {string} what @param {string[]} args @param {string} cwd */
function npmSucceeds(what, args, cwd) {
  console.error(`Installing ${what} (once, about half a minute) …`);
  const words = [...args, "--no-audit", "--no-fund", "--loglevel=error"];
  /** @type {import("node:child_process").SpawnSyncOptions} */
  const options = { cwd, stdio: ["ignore", "ignore", "inherit"] };
  // npm passes its own path to its scripts. Without it a shell finds npm: as one line, because Node
  // warns about unquoted arguments of a shell; none of ours needs quotes.
  const cli = process.env.npm_execpath;
  const run = cli?.endsWith(".js")
    ? spawnSync(process.execPath, [cli, ...words], options)
    : spawnSync(["npm", ...words].join(" "), { ...options, shell: true });
  if (run.status === 0) return true;
  console.error(`npm ${args.join(" ")} failed with exit code ${run.status}; its output is above.`);
  return false;
}
