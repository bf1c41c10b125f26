/** This machine's environment, for locating agents' files. */

import { homedir } from "node:os";
import type { Environment } from "../ingest/source.ts";

export function thisMachine(): Environment {
  return { home: homedir(), variables: process.env, platform: process.platform };
}
