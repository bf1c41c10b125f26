/** The other side of `Child`: what a started process is told, and how it speaks. */

import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";

/** The task that the test sent. The process may end when it is done: nothing keeps it alive. */
export function receiveTask<Task>(): Promise<Task> {
  // Usually written at the exit, which a process that is killed does not have.
  flushCompileCache();
  return new Promise((resolve) => {
    process.once("message", (message: { task: Task }) => {
      process.disconnect();
      resolve(message.task);
    });
  });
}

/** Says one line at once: when this returns, the test will read it even if we are killed. */
export function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}
