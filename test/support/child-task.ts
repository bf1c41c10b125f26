/** The child's side of `Child`: receives its task and prints lines. */

import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";

/** Receives the task from the test. Then disconnects, so that the process can exit. */
export function receiveTask<Task>(): Promise<Task> {
  // The compile cache is otherwise written at exit, which a killed process never reaches.
  flushCompileCache();
  return new Promise((resolve) => {
    process.once("message", (message: { task: Task }) => {
      process.disconnect();
      resolve(message.task);
    });
  });
}

/** Prints a line synchronously: the test reads it even if this process is killed right after. */
export function say(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}
