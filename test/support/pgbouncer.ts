/** A real PgBouncer in transaction mode, for tests on machines that have one. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort, waitUntilListening } from "../server/ports.ts";
import { withAddress } from "./postgres.ts";

/** The user and group `nobody`: PgBouncer refuses to run as root. */
const NOBODY = 65_534;

/** Also where a user's PATH lacks the folders of services. */
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];

/** The path of the program; undefined where there is none. */
export function findPgbouncer(): string | undefined {
  return FOLDERS.map((folder) => join(folder, "pgbouncer")).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export interface Pgbouncer extends AsyncDisposable {
  /** The address of the same database through the pooler. */
  readonly address: string;
  /** Sends clients to another server, as a failover manager does. */
  pointAt(target: string): Promise<void>;
}

export async function startPgbouncer(program: string, target: string): Promise<Pgbouncer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "backscroll-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, settings(port, target));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const child = spawn(program, [file], {
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = once(child, "exit");
  await waitUntilListening(port);
  return {
    address: withAddress(target, (url) => {
      url.host = `127.0.0.1:${port}`;
    }),
    async pointAt(other) {
      await writeFile(file, settings(port, other));
      child.kill("SIGHUP");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(port: number, target: string): string {
  const { hostname, port: to, pathname, username, password } = new URL(target);
  return [
    "[databases]",
    `${pathname.slice(1)} = host=${hostname} port=${to} user=${username} password=${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 10",
    // As docs/fleet.md advises: the default refuses clients for up to 15 s after the database is back.
    "server_login_retry = 1",
  ].join("\n");
}
