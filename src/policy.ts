/**
 * The policy of a machine: what its administrator forbids to everyone on it, whatever flags,
 * variables and configuration files say. A policy that cannot be read forbids all that one could.
 */

import { readFileSync } from "node:fs";
import { BackscrollError } from "./model/errors.ts";
import { unknownField } from "./model/input.ts";
import { isPlainObject } from "./model/json.ts";

export const POLICY_KEYS = ["hooks", "shares", "rawExports", "remoteEmbedders"] as const;
export type PolicyKey = (typeof POLICY_KEYS)[number];

export interface Policy {
  /** The first file that exists; null: there is none. */
  readonly path: string | null;
  readonly forbidden: readonly PolicyKey[];
  /** Why the file cannot be used; then everything is forbidden. */
  readonly problem: string | null;
}

const WINDOWS_FOLDER = "C:\\ProgramData";

/**
 * Read in order; the first that exists counts. On Windows the usual place precedes that of the
 * variable, which every user can set.
 */
export const POLICY_FILES: string[] =
  process.platform === "win32"
    ? [WINDOWS_FOLDER, process.env["ProgramData"] ?? WINDOWS_FOLDER].map(
        (folder) => `${folder}\\backscroll\\policy.json`,
      )
    : ["/etc/backscroll/policy.json"];

export function readPolicy(): Policy {
  for (const path of POLICY_FILES) {
    try {
      return { path, forbidden: parse(readFileSync(path, "utf8")), problem: null };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
      return { path, forbidden: POLICY_KEYS, problem: (error as Error).message };
    }
  }
  return { path: null, forbidden: [], problem: null };
}

/** Throws `forbidden`, naming the file and the key. */
export function requireAllowed(key: PolicyKey): void {
  const { path, forbidden, problem } = readPolicy();
  if (!forbidden.includes(key)) return;
  const why =
    problem === null
      ? `"${key}" is false in ${path}`
      : `${path} cannot be used (${problem}), so it counts as "${key}": false`;
  throw new BackscrollError("forbidden", `the policy of this machine forbids it: ${why}`, {
    details: { policy: path ?? "", key },
  });
}

function parse(text: string): PolicyKey[] {
  const policy: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if (!isPlainObject(policy)) throw new Error("it is not a JSON object");
  for (const [name, value] of Object.entries(policy)) {
    if (!POLICY_KEYS.some((key) => key === name)) throw unknownField(name, "it", POLICY_KEYS);
    if (typeof value !== "boolean") throw new Error(`${name} must be true or false`);
  }
  return POLICY_KEYS.filter((key) => policy[key] === false);
}
