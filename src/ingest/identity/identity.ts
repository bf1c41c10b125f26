/** Identifies this machine, and gives the workstation and the key of an ingested session. */

import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { BackscrollError } from "../../model/errors.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { NO_PROJECT_ID } from "../../model/session.ts";
import type { Environment } from "../source.ts";

// The workstation of a session.
//
// The same session id may exist on two machines: a copied home folder, a synchronised disk. Both
// are kept, because the workstation is part of a session's key. The id is a hash, so that it does
// not disclose the machine.

/** Allowed values of `WORKSTATION_ID`: no colon, which separates the parts of keys. */
const ALLOWED = /^[A-Za-z0-9._-]{1,64}$/;

/** `WORKSTATION_ID`, else eight hex digits that are stable on this machine. */
export async function workstationId(environment: Environment = thisMachine()): Promise<string> {
  checkPart(environment, "environment", INPUTS.environment);
  // An empty variable counts as unset.
  const given = environment.variables["WORKSTATION_ID"] || undefined;
  if (given === undefined) return hashWorkstation(hostname(), await readMachineId(environment));
  if (ALLOWED.test(given)) return given;
  throw new BackscrollError(
    "invalid_input",
    `WORKSTATION_ID must be 1 to 64 letters, digits, dots, dashes or underscores, not "${given}"`,
    { details: { field: "WORKSTATION_ID" } },
  );
}

export function hashWorkstation(host: string, machineId: string): string {
  return shortHash(host + machineId);
}

// The machine's id, by operating system.
//
// It is an input of the workstation's id, so it must be the same at every start and on every
// version of this program. Where the system has none, one is generated once and stored in our own
// folder.

/** Access to the machine; each call gives undefined without an answer. */
export interface MachineReader {
  readText(path: string): Promise<string | undefined>;
  run(command: string, ...args: string[]): Promise<string | undefined>;
}

/** Never fails: a machine without an id gets one in `~/.backscroll`. */
export async function readMachineId(
  { platform, home }: Pick<Environment, "platform" | "home">,
  machine: MachineReader = REAL_MACHINE,
): Promise<string> {
  return (await systemId(platform, machine)) ?? keptId(join(home, ".backscroll"));
}

async function systemId(platform: string, machine: MachineReader): Promise<string | undefined> {
  if (platform === "darwin") {
    return parseIoreg(await machine.run("ioreg", "-rd1", "-c", "IOPlatformExpertDevice"));
  }
  if (platform === "win32") {
    const key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography";
    return parseRegistry(await machine.run("reg", "query", key, "/v", "MachineGuid", "/reg:64"));
  }
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    const id = (await machine.readText(path))?.trim();
    // systemd writes this word into an image before its first boot.
    if (id && id !== "uninitialized") return id;
  }
  return undefined;
}

/** `"IOPlatformUUID" = "8F2D…"` in the output of macOS. */
export function parseIoreg(text: string | undefined): string | undefined {
  return /"IOPlatformUUID"\s*=\s*"([^"]+)"/.exec(text ?? "")?.[1];
}

/** `MachineGuid    REG_SZ    8f2d…` in the output of Windows. */
export function parseRegistry(text: string | undefined): string | undefined {
  return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(text ?? "")?.[1];
}

/** Exclusive creation: two processes that start at once agree. */
async function keptId(folder: string): Promise<string> {
  const file = join(folder, "machine-id");
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (kept !== "") return kept;
  const id = randomUUID();
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, `${id}\n`, { flag: "wx", mode: 0o600 });
    return id;
  } catch {
    // Another process created it, or the folder is read-only: then the id lasts for this process.
    return (await readFile(file, "utf8").catch(() => "")).trim() || id;
  }
}

/** A timeout, in case a command hangs. */
const COMMAND_MS = 3_000;

const REAL_MACHINE: MachineReader = {
  readText: (path) => readFile(path, "utf8").catch(() => undefined),
  run: (command, ...args) =>
    promisify(execFile)(command, args, { timeout: COMMAND_MS, windowsHide: true }).then(
      ({ stdout }) => stdout,
      () => undefined,
    ),
};

/** This machine's environment, for locating agents' files. */
export function thisMachine(): Environment {
  return { home: homedir(), variables: process.env, platform: process.platform };
}

/** The project of the agent's working folder. */
export function projectId(cwd: string | null): string {
  return cwd === null ? NO_PROJECT_ID : shortHash(cwd);
}

export function compositeKey(workstation: string, project: string, session: string): string {
  return `${workstation}:${project}:${session}`;
}

/** The session's own id. The parts before it contain no colon. */
export function sessionInKey(key: string): string {
  return key.split(":").slice(2).join(":");
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** The UUID in a file's name, the last of several. */
export function uuidInName(path: string): string | undefined {
  return basename(path).match(UUID)?.at(-1);
}

/** The id of a session whose file names none: from the file's name, else a hash of its path. */
export function idFromFile(path: string): string {
  return uuidInName(path) ?? `file-${shortHash(path)}${shortHash(`${path}\n`)}`;
}

/** The first eight hex digits of SHA-256: the form of workstation and project ids. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, 8);
}
