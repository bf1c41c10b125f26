/** The gateway's configuration, as this user and this command line have it. */

import { homedir } from "node:os";
import { type LoadedConfig, loadConfig } from "../../gateway/config/load-config.ts";

export function ownConfig(): LoadedConfig {
  return loadConfig(homedir(), process.env);
}
