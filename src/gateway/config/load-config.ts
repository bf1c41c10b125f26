/** Finds and reads the configuration file. */

import { readFileSync } from "node:fs";
import { BackscrollError } from "../../model/errors.ts";
import type { Variables } from "../../model/variables.ts";
import { configPlace } from "./find-config.ts";
import type { GatewayConfigInput } from "./gateway-config.ts";
import { type ReadConfig, readConfig } from "./read-config.ts";

export interface LoadedConfig extends ReadConfig {
  readonly path: string;
  /** False: no file, so every setting has its default. */
  readonly exists: boolean;
}

/**
 * Reads `~/.backscroll/config.json`, or the file that `BACKSCROLL_CONFIG` names. Throws
 * `invalid_input` if the file is unreadable, is not JSON, or was named and is missing.
 */
export function loadConfig(home: string, variables: Variables): LoadedConfig {
  const { path, isNamed } = configPlace(home, variables);
  const text = readText(path, isNamed);
  const input = text === undefined ? {} : parse(text, path);
  try {
    return { path, exists: text !== undefined, ...readConfig(input, variables) };
  } catch (cause) {
    if (!BackscrollError.is(cause)) throw cause;
    const { code, details } = cause;
    throw new BackscrollError(code, `${cause.message}; see ${path}`, { details, cause });
  }
}

function readText(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing && !isNamed) return undefined;
    const what = isMissing ? "there is no file" : "cannot read the file";
    throw invalid(`${what} ${path}; BACKSCROLL_CONFIG names another`, path, cause);
  }
}

function parse(text: string, path: string): GatewayConfigInput {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as GatewayConfigInput;
  } catch (cause) {
    throw invalid(`${path} is not JSON: ${(cause as Error).message}`, path, cause);
  }
}

function invalid(message: string, path: string, cause: unknown): BackscrollError {
  return new BackscrollError("invalid_input", message, {
    details: { field: "config", path },
    cause,
  });
}
