/**
 * The secrets that the configuration names, for every process and thread that masks.
 *
 * Whoever writes conversations reads the configuration strictly and refuses a wrong one; a command
 * that only shows them goes on.
 */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { configPlace, hasConfig } from "../../gateway/config/find-config.ts";
import { readVariable, SECRET_PREFIX } from "../../model/variables.ts";

export function maskOwnSecrets(): void {
  const { env } = process;
  if (readVariable("BACKSCROLL_SECRETS", env) !== undefined || !hasConfig(homedir(), env)) return;
  const prefixes = readPrefixes(configPlace(homedir(), env).path);
  if (prefixes.length > 0) env["BACKSCROLL_SECRETS"] = prefixes.join(",");
}

function readPrefixes(path: string): readonly string[] {
  let config: { readonly secrets?: { readonly prefixes?: unknown } } | null;
  try {
    config = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return []; // Told by the strict reader.
  }
  const prefixes = config?.secrets?.prefixes;
  if (!Array.isArray(prefixes)) return [];
  return prefixes.filter((each) => typeof each === "string" && SECRET_PREFIX.test(each));
}
