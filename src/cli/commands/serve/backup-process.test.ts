import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyInProcess, outcomeOf } from "./backup-process.ts";

/** In a separate process: it uses up all descriptors. */
const WITHOUT_DESCRIPTORS = `
import { openSync } from "node:fs";
const { copyInProcess } = await import(${JSON.stringify(`${import.meta.dirname}/backup-process.ts`)});
try {
  for (;;) openSync("/dev/null", "r");
} catch (error) {
  if (error.code !== "EMFILE") throw error;
}
const copying = copyInProcess("x.db")("y.db", new AbortController().signal);
process.exitCode = await copying.then(() => 1, ({ code }) => (code === "EMFILE" ? 42 : 2));
// An unhandled rejection would end the process here.
await new Promise((resolve) => setImmediate(resolve));
`;

test("a process that cannot start for lack of descriptors is an ordinary error", () => {
  const program = [process.execPath, "--input-type=module", "-e", WITHOUT_DESCRIPTORS];
  const ran = spawnSync("sh", ["-c", 'ulimit -n 256; exec "$@"', "sh", ...program]);
  expect([ran.status, ran.stderr.toString()]).toEqual([42, ""]);
});

test("an abandoned backup process is not started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  const file = join(folder, "copy.db");
  const copying = copyInProcess(join(folder, "store.db"))(file, AbortSignal.abort());
  await expect(copying).rejects.toMatchObject({ name: "AbortError" });
  expect(existsSync(file)).toBe(false);
  rmSync(folder, { recursive: true });
});

test("a backup process with unreadable output is reported after it has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  // It continues for a while after it was told to stop, and writes.
  const program = `process.on("SIGTERM", () => setTimeout(() => {
    require("node:fs").writeFileSync(${JSON.stringify(join(folder, "late"))}, "");
    process.exit();
  }, 200));
  setInterval(() => undefined, 1000);
  process.stderr.write("ready");`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "pipe"] });
  const outcome = outcomeOf(child);
  child.stderr.once("data", () => child.stdout.destroy(new Error("the pipe is broken")));
  await expect(outcome).rejects.toThrow("the pipe is broken");
  expect([child.exitCode, existsSync(join(folder, "late"))]).toEqual([0, true]);
  rmSync(folder, { recursive: true });
});
