/** Folders for tests, gone when the test is over. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A detached process of the test may still write while it ends: retry on ENOTEMPTY. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;

/**
 * Tests that run concurrently pass their context's `onTestFinished`: the imported one belongs to the
 * test that started last, whose end would delete the folder of another.
 */
export function createFolder(onFinished: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  onFinished(() => removeFolder(folder));
  return folder;
}

/** Removes a folder that processes of the tests wrote to. */
export function removeFolder(folder: string): void {
  rmSync(folder, REMOVAL);
}
