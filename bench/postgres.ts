/** A PostgreSQL server for benches, with durable commits. */

import pg from "pg";
import { startPostgres } from "../test/support/embedded-postgres.ts";

export interface BenchServer extends AsyncDisposable {
  /** An empty database's address. */
  createDatabase(): Promise<string>;
}

/** `parent` is the folder that the server's data is kept in. */
export async function startBenchServer(parent?: string): Promise<BenchServer> {
  const server = await startPostgres(parent === undefined ? {} : { parent });
  let count = 0;
  return {
    async createDatabase() {
      const name = `bench_${++count}`;
      const client = new pg.Client(server.address("postgres"));
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return server.address(name);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
