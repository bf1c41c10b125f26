/**
 * One PostgreSQL server for a whole test run, started by vitest before the first test.
 *
 * It has a free port and its own folder, so that concurrent runs do not collide.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestProject } from "vitest/node";
import { TEMPLATE_VARIABLE } from "./embedded-postgres.ts";
import type { StartedPostgres } from "./postgres-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the server's own database, as its superuser. */
    postgres: string;
  }
}

/** Vitest's global setup: called once per run; the returned function is the teardown. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const script = join(import.meta.dirname, "postgres-process.ts");
  const server = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(server, "exit");
  const lines = createInterface(server.stdout);
  const line = await Promise.race([once(lines, "line"), ended.then(() => undefined)]);
  if (line === undefined) throw new Error("the PostgreSQL server for the tests did not start");
  const { address, template } = JSON.parse(String(line[0])) as StartedPostgres;
  provide("postgres", address);
  // Inherited by workers and their child processes.
  process.env[TEMPLATE_VARIABLE] = template;
  return async () => {
    delete process.env[TEMPLATE_VARIABLE];
    server.stdin.end();
    await ended;
  };
}
