/**
 * A PostgreSQL server in a process of its own: prints its address and its template as JSON, and ends
 * with its input.
 *
 * Its parent may be killed at any time: the input then closes, and the server goes. A line `restart`
 * on the input restarts the server, which keeps what it has acknowledged.
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

/** Fast and forgetful: the server dies with the tests anyway. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "256MB",
  max_connections: "300",
  // Hundreds of databases live for a second each: nothing in them is worth a vacuum or compiled plans.
  autovacuum: "off",
  jit: "off",
  // Every connection checks a password.
  scram_iterations: "1",
  io_method: "sync",
};

/** Every database of a run together takes about half of this. */
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
