/** A real primary with a hot standby, for tests. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { PASSWORD } from "./embedded-postgres.ts";
import type { FleetOptions } from "./postgres-fleet.ts";

export interface Fleet extends AsyncDisposable {
  /** The address of the database on a server (0 begins as the primary, 1 as its standby). */
  address(server: number): string;
  /** One address with both servers. */
  readonly both: string;
  port(server: number): number;
  /** Runs a statement as the superuser. */
  query(server: number, sql: string): Promise<Record<string, unknown>[]>;
  /** Kill -9. */
  kill(server: number): Promise<void>;
  /** Restarts a server on its own data, in its previous role. */
  start(server: number): Promise<void>;
  stop(server: number): Promise<void>;
  promote(server: number): Promise<void>;
  /** Switches `server` to synchronous replication. */
  synchronize(server: number): Promise<void>;
  /** Makes `server` a standby of `primary`, with a new copy of its data. */
  follow(server: number, primary: number): Promise<void>;
}

export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const script = join(import.meta.dirname, "postgres-fleet-process.ts");
  const host = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(host, "exit");
  const lines = createInterface(host.stdout)[Symbol.asyncIterator]();
  const answer = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the servers of the fleet have ended");
    return JSON.parse(value);
  };
  const ports = (await answer()) as [number, number];
  const tell = async (...call: readonly (string | number)[]) => {
    host.stdin.write(`${JSON.stringify(call)}\n`);
    await answer();
  };
  const hosts = (some: readonly number[]) => some.map((port) => `127.0.0.1:${port}`).join(",");
  const owner = "postgres://backscroll_owner:backscroll_owner@";
  const port = (server: number) => ports[server] as number;
  return {
    address: (server) => `${owner}${hosts([port(server)])}/fleet`,
    both: `${owner}${hosts(ports)}/fleet`,
    port,
    async query(server, sql) {
      const address = `postgres://postgres:${PASSWORD}@${hosts([port(server)])}/fleet`;
      const client = new pg.Client(address);
      client.on("error", () => undefined);
      await client.connect();
      try {
        return await withoutConflicts(async () => (await client.query(sql)).rows);
      } finally {
        await client.end();
      }
    },
    kill: (server) => tell("kill", server),
    start: (server) => tell("start", server),
    stop: (server) => tell("stop", server),
    promote: (server) => tell("promote", server),
    synchronize: (server) => tell("synchronize", server),
    follow: (server, primary) => tell("follow", server, primary),
    async [Symbol.asyncDispose]() {
      host.stdin.end();
      await ended;
    },
  };
}

/** Retries a statement that the standby cancelled in favour of WAL replay. */
async function withoutConflicts<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === 50 || (error as { code?: unknown }).code !== "40001") throw error;
    }
  }
}
