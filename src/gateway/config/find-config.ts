/** Finds the configuration file, for callers that load its reader only if there is one. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { readVariable, type Variables } from "../../model/variables.ts";

export interface ConfigPlace {
  readonly path: string;
  /** `BACKSCROLL_CONFIG` names it, so it must exist. */
  readonly isNamed: boolean;
}

export function configPlace(home: string, variables: Variables): ConfigPlace {
  const named = readVariable("BACKSCROLL_CONFIG", variables);
  return {
    path: named ?? join(home, ".backscroll", "config.json"),
    isNamed: named !== undefined,
  };
}

/** Whether there is anything to read. */
export function hasConfig(home: string, variables: Variables): boolean {
  const { path, isNamed } = configPlace(home, variables);
  return isNamed || existsSync(path);
}
