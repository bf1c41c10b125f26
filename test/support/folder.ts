/** Temporary folders of tests, removed at their end. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A detached process of the test may still write while it ends: retry on ENOTEMPTY. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;

/**
 * Concurrent tests pass their context's `onTestFinished`: the imported one belongs to the test that
 * started last, whose end would delete another's folder.
 */
export function createFolder(onFinished: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  onFinished(() => removeFolder(folder));
  return folder;
}

/** Removes a folder that child processes may still write to. */
export function removeFolder(folder: string): void {
  rmSync(folder, REMOVAL);
}
