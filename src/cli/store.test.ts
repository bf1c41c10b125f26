import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MB = 1024 * 1024;

test("young generations get a few megabytes on every thread, and do not grow", async () => {
  // By default both begin with 4 and grow to 64.
  const { own, thread } = await roomOfProcess();
  expect(own.first).toBe(16 * MB);
  // V8 may take some of it back.
  expect(own.later).toBeLessThanOrEqual(16 * MB);
  expect(thread.first).toBeGreaterThanOrEqual(4 * MB);
  expect(thread.later).toBeLessThanOrEqual(16 * MB);
});

interface Room {
  readonly first: number;
  /** After much was retained. */
  readonly later: number;
}

/** In a separate process, like a command: a test process's heap has grown before. */
async function roomOfProcess(): Promise<{ own: Room; thread: Room }> {
  const code = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { Worker } from "node:worker_threads";
    import { sizeHeap } from ${JSON.stringify(new URL("./store.ts", import.meta.url).href)};
    ${roomWhenKept.toString()}
    sizeHeap();
    const own = roomWhenKept(getHeapSpaceStatistics);
    const inThread = \`
      import { getHeapSpaceStatistics } from "node:v8";
      import { parentPort } from "node:worker_threads";
      \${roomWhenKept.toString()}
      parentPort.postMessage(roomWhenKept(getHeapSpaceStatistics));\`;
    new Worker(inThread, { eval: true }).on("message", (thread) => {
      console.log(JSON.stringify({ own, thread }));
    });`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module", // the thread's code, too
    "--eval",
    code,
  ]);
  return JSON.parse(stdout);
}

/** Before and after retaining more than there is room for. */
function roomWhenKept(spaces: () => { space_name: string; space_size: number }[]): Room {
  const roomBytes = () => spaces().find((each) => each.space_name === "new_space")?.space_size ?? 0;
  const first = roomBytes();
  const kept: unknown[] = [];
  for (let i = 0; i < 300_000; i++) {
    kept.push(new Array(128).fill(i));
    if (kept.length > 10_000) kept.length = 0;
  }
  return { first, later: roomBytes() };
}
