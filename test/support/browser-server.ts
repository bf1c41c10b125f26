/**
 * One browser for a whole test run, started by vitest before the first test if one of them needs it.
 *
 * Where there is none, the browser's tests are skipped, and the end of the run says so.
 */

import type { TestProject } from "vitest/node";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../../scripts/test-browser.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The browser's WebSocket address; undefined without a browser. */
    browser?: string;
  }
}

/**
 * Disabled features: the address bar's suggestions are separate pages, whose renderer takes a second of
 * CPU time per window. The others are Playwright's own list, because a later list replaces it.
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
  // A reloaded page keeps its renderer, with compiled scripts.
  "--disable-site-isolation-trials",
  "--process-per-site",
  // Containers have a small /dev/shm.
  "--disable-dev-shm-usage",
];

/** The files that need a browser. */
const IN_BROWSER = /[\\/]test[\\/]browser[\\/]/;

/** Vitest's global setup: called once per run; the returned function is the teardown. */
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
  // Loaded on demand: the module is large.
  const { chromium } = await import("playwright-core");
  const server = await chromium.launchServer({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    args: ARGUMENTS,
    // Chromium's sandbox does not run as root.
    chromiumSandbox: process.getuid?.() !== 0 && found.env["LD_LIBRARY_PATH"] === undefined,
  });
  provide("browser", server.wsEndpoint());
  return () => server.close();
}
