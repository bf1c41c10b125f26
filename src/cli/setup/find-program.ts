/** Finds programs on the PATH as a shell does. */

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../../ingest/source.ts";

/** Its path; undefined if missing. */
export function findProgram(
  name: string,
  { variables, platform }: Environment,
): string | undefined {
  const folders = (variables["PATH"] ?? variables["Path"] ?? "").split(delimiter);
  const endings = platform === "win32" ? [".cmd", ".exe", ".bat"] : [""];
  for (const folder of folders.filter((each) => each !== "")) {
    for (const ending of endings) {
      const file = join(folder, name + ending);
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

/** Whether two paths are the same file. */
export function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
