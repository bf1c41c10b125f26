/**
 * Runs commands under file permissions: root bypasses them, so root drops its capabilities.
 *
 * Without capabilities root still owns its files and can enter its folders, so that a checkout below
 * `/root` works, too. Without `setpriv` the command runs as `nobody`.
 */

import { spawnSync } from "node:child_process";

const NOBODY = 65_534;
const SETPRIV = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] as const;

export interface BoundCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** For `spawn`: the user of the command. */
  readonly user: { readonly uid?: number; readonly gid?: number };
}

export function boundByPermissions(file: string, args: readonly string[]): BoundCommand {
  if (process.getuid?.() !== 0) return { file, args, user: {} };
  const [command, ...flags] = SETPRIV;
  const works = spawnSync(command, [...flags, "true"]).status === 0;
  return works
    ? { file: command, args: [...flags, file, ...args], user: {} }
    : { file, args, user: { uid: NOBODY, gid: NOBODY } };
}
