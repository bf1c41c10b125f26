/**
 * One browser for a whole test run, started by vitest before the first test that needs it.
 *
 * Where there is none, the browser's tests are skipped, and the end of the run says so.
 */

import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findBrowser, HOW_TO_GET_A_BROWSER } from "../../scripts/test-browser.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the browser is reached; undefined where there is none. */
    browser?: string;
  }
}

/** Vitest calls this once per run and calls what it returns at the end, whatever the tests did. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const found = findBrowser();
  if (found === undefined) {
    return async () => {
      process.stdout.write(
        `Skipped the tests in a browser: no Chromium was found. To run them, ${HOW_TO_GET_A_BROWSER}.\n`,
      );
    };
  }
  const server = await chromium.launchServer({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    // Root has no sandbox; a container has little shared memory.
    args: ["--disable-dev-shm-usage"],
    chromiumSandbox: process.getuid?.() !== 0 && found.env["LD_LIBRARY_PATH"] === undefined,
  });
  provide("browser", server.wsEndpoint());
  return () => server.close();
}
