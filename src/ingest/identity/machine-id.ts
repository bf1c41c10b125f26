/**
 * The machine's id, by operating system.
 *
 * It is an input of the workstation's id, so it must be the same at every start and on every
 * version of this program. Where the system has none, one is generated once and stored in our own
 * folder.
 */

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../source.ts";

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
