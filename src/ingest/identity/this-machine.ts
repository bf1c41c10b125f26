import { homedir } from "node:os";
import type { Environment } from "../source.ts";

/** This machine's environment, for locating agents' files. */
export function thisMachine(): Environment {
  return { home: homedir(), variables: process.env, platform: process.platform };
}
