import { getHeapSpaceStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { sizeHeap } from "./store.ts";

const MB = 1024 * 1024;

test("new objects get a few megabytes on every thread, and no more later", async () => {
  sizeHeap();
  const before = roomBytes();
  expect(before).toBeGreaterThanOrEqual(8 * MB);
  churn();
  expect(roomBytes()).toBeLessThanOrEqual(Math.max(before, 16 * MB));

  const [first, later] = await roomOfThread();
  expect(first).toBeGreaterThanOrEqual(4 * MB);
  expect(later).toBeLessThanOrEqual(2 * 4 * MB);
});

function roomBytes(): number {
  return getHeapSpaceStatistics().find((each) => each.space_name === "new_space")?.space_size ?? 0;
}

/** Keeps more than there is room for. */
function churn(): void {
  const kept: unknown[] = [];
  for (let i = 0; i < 30_000; i++) {
    kept.push(new Array(128).fill(i));
    if (kept.length > 10_000) kept.length = 0;
  }
}

/** What a thread has at first, and when it has kept much. */
async function roomOfThread(): Promise<[number, number]> {
  const code = `
    const { getHeapSpaceStatistics } = require("node:v8");
    const { parentPort } = require("node:worker_threads");
    const roomBytes = () =>
      getHeapSpaceStatistics().find((each) => each.space_name === "new_space").space_size;
    ${churn.toString()}
    const first = roomBytes();
    churn();
    parentPort.postMessage([first, roomBytes()]);`;
  const worker = new Worker(code, { eval: true });
  try {
    return await new Promise((resolve, reject) => {
      worker.on("message", resolve).on("error", reject);
    });
  } finally {
    await worker.terminate();
  }
}
