/** The gateway's configuration for this user and command line. */

import { homedir } from "node:os";
import { type LoadedConfig, loadConfig } from "../../gateway/config/read-config.ts";

export function ownConfig(): LoadedConfig {
  return loadConfig(homedir(), process.env);
}
