/**
 * A PostgreSQL server in a separate process: prints its address and its template as JSON, and stops at
 * the end of input, so that it does not outlive a killed parent.
 *
 * The input line `restart` restarts the server with its data.
 */

import { createInterface } from "node:readline";
import { startPostgres } from "./embedded-postgres.ts";
import { fastFolder } from "./fast-folder.ts";

export interface StartedPostgres {
  /** The address of the server's own database, as its superuser. */
  readonly address: string;
  /** See `TEMPLATE_VARIABLE`. */
  readonly template: string;
}

/** Settings without durability: the server lives as long as the tests. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "256MB",
  max_connections: "300",
  // Hundreds of databases live for a second each: autovacuum and JIT do not pay.
  autovacuum: "off",
  jit: "off",
  // One SCRAM iteration: every connection checks a password.
  scram_iterations: "1",
  io_method: "sync",
  // The kernel copies the files of a template: a quarter of the time of creating a database.
  ...(process.platform === "linux" ? { file_copy_method: "clone" } : {}),
};

/** About twice the space of all databases of a run. */
const ROOM_BYTES = 2 * 1024 ** 3;

{
  await using server = await startPostgres({
    parent: await fastFolder(ROOM_BYTES),
    settings: SETTINGS,
  });
  const started = { address: server.address("postgres"), template: server.template };
  process.stdout.write(`${JSON.stringify(started satisfies StartedPostgres)}\n`);
  for await (const line of createInterface(process.stdin)) {
    if (line !== "restart") continue;
    await server.restart();
    process.stdout.write("restarted\n");
  }
}
