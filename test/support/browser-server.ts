/**
 * One browser for a whole test run, started by vitest before the first test if one of them needs it.
 *
 * Where there is none, the browser's tests are skipped, and the end of the run says so.
 */

import type { TestProject } from "vitest/node";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../../scripts/test-browser.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the browser is reached; undefined where there is none. */
    browser?: string;
  }
}

/**
 * What would be started for nobody: the address bar's suggestions are pages of their own, each with a
 * renderer that takes a second of processor time a window. The others are playwright's own, which only
 * the last list of features would replace.
 */
const UNUSED_FEATURES: readonly string[] = [
  "AimEnabled",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "WebUIOmniboxPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

const ARGUMENTS: string[] = [
  `--disable-features=${UNUSED_FEATURES.join(",")}`,
  // A page that is emptied and loaded again keeps its renderer, which has compiled the scripts.
  "--disable-site-isolation-trials",
  "--process-per-site",
  // A container has little shared memory.
  "--disable-dev-shm-usage",
];

/** The files that need a browser. */
const IN_BROWSER = /[\\/]test[\\/]browser[\\/]/;

/** Vitest calls this once per run and calls what it returns at the end, whatever the tests did. */
export async function setup({ provide, vitest }: TestProject): Promise<() => Promise<void>> {
  if (!vitest.state.getPaths().some((path) => IN_BROWSER.test(path))) return async () => undefined;
  const found = findBrowser();
  if (found === undefined) {
    return async () => {
      process.stdout.write(
        `Skipped the tests in a browser: no Chromium was found. To run them, ${HOW_TO_GET_A_BROWSER}.\n`,
      );
    };
  }
  // Its code is large: runs without a browser do without it.
  const { chromium } = await import("playwright-core");
  const server = await chromium.launchServer({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    args: ARGUMENTS,
    // Root has no sandbox.
    chromiumSandbox: process.getuid?.() !== 0 && found.env["LD_LIBRARY_PATH"] === undefined,
  });
  provide("browser", server.wsEndpoint());
  return () => server.close();
}
