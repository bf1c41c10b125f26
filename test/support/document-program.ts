/**
 * Runs programs one after another in one process, see `cli-host.ts`: the first argument is the file. A
 * program has ended when nothing of it keeps the process alive.
 */

import { Console } from "node:console";
import { pathToFileURL } from "node:url";
import { pause } from "../../src/async/pause.ts";

process.on("warning", (warning) => process.stderr.write(`${warning}\n`));

/** What keeps the process alive between programs: the channel to the tests. */
let between: number | undefined;

export async function main([file = ""]: readonly string[]): Promise<number> {
  // The usual one keeps the streams that it wrote to first.
  globalThis.console = new Console(process.stdout, process.stderr);
  between ??= process.getActiveResourcesInfo().length;
  try {
    await import(pathToFileURL(file).href);
    // At least once: warnings and unhandled rejections follow the end of the module.
    do await pause(5);
    while (process.getActiveResourcesInfo().length > between);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    return 1;
  }
}
