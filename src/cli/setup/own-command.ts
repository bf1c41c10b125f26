/**
 * The command with which another program can start this Backscroll later, in any folder: the
 * current one, if that works there. Programs are found on the PATH as a shell does.
 */

import { spawnSync } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Environment } from "../../ingest/source.ts";
import { MEMORY } from "../../store/store-options.ts";
import { usageError } from "../command.ts";
import { type Context, isServer } from "../context.ts";
import type { ServerCommand } from "./agents.ts";

interface Started {
  /** The script that Node runs. */
  readonly script: string;
  /** The Node that runs it. */
  readonly node: string;
}

/** The words that begin every command line. */
export function programWords(machine: Environment, started: Started = thisProcess()): string[] {
  const { script, node } = started;
  const file = realPath(script);
  // Only the absolute path of a sufficiently new Node is sure to start it.
  const fixed = [node, file];
  if (!isNewEnough(machine, node)) return fixed;
  const shell = machine.platform === "win32" ? ["cmd", "/c"] : [];
  // npm eventually removes this folder; `npx` creates another one.
  if (/[\\/]_npx[\\/]/.test(script)) return [...shell, "npx", "-y", "backscroll"];
  const found = findProgram("backscroll", machine);
  if (found === undefined || isInProject(found)) return fixed;
  return isSameFile(found, file) || machine.platform === "win32" ? [...shell, "backscroll"] : fixed;
}

/** The command of the MCP server, with this command line's store and tenant. */
export function serverCommand(context: Context, machine: Environment): ServerCommand {
  const [command = "", ...words] = programWords(machine);
  return {
    command,
    args: [...words, "mcp", ...storeOptions(context, machine)],
    env: tokenOf(context),
  };
}

/** `--db` and `--tenant`, if given on the command line or in the environment. */
export function storeOptions(context: Context, { variables }: Environment): string[] {
  const db = context.given.db ?? (variables["BACKSCROLL_DB"] || undefined);
  if (db === MEMORY) {
    throw usageError("an in-memory store ends with its process; name a file or a server", "--db");
  }
  return [
    ...(db === undefined ? [] : ["--db", /^\w{2,}:\/\//.test(db) ? db : resolve(db)]),
    ...(context.tenantNamed ? ["--tenant", context.tenant] : []),
  ];
}

/** Not as an argument, which other users of the machine can see. */
function tokenOf({ address, token }: Context): Record<string, string> {
  return token !== undefined && isServer(address) ? { BACKSCROLL_TOKEN: token } : {};
}

function thisProcess(): Started {
  return { script: process.argv[1] ?? "", node: process.execPath };
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

/** npm adds a project's programs to the PATH only while it runs a script. */
function isInProject(program: string): boolean {
  return /[\\/]node_modules[\\/]\.bin[\\/]/.test(program);
}

/** Whether the `node` on a client's PATH can run Backscroll. */
function isNewEnough(machine: Environment, running: string): boolean {
  const found = findProgram("node", machine);
  if (found === undefined || isInProject(found)) return false;
  if (isSameFile(found, running)) return true;
  const { stdout } = spawnSync(found, ["--version"], { encoding: "utf8", timeout: 5_000 });
  const [, major = 0, minor = 0] = (/^v(\d+)\.(\d+)/.exec(stdout ?? "") ?? []).map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

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
function isSameFile(one: string, other: string): boolean {
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
