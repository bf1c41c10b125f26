/** Databases for tests, on the server that the test run has started. */

import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/**
 * Creates an empty database and gives its address. It belongs to a role of its own that is no
 * superuser, as on a real server: row-level security does not bind superusers. Both go away with the
 * server.
 */
export function createDatabase(): Promise<string> {
  return create("");
}

/** A database that sorts text as people do ("a" before "B"), where the other one compares bytes. */
export function createIcuDatabase(): Promise<string> {
  return create("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'");
}

/** Runs statements as the superuser: what a test arranges, or looks at, behind the store's back. */
export async function query(
  address: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = await connect(address);
  try {
    const result = await client.query(sql, values.length === 0 ? undefined : [...values]);
    return result.rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** A connection of the superuser to the database at `address`. The caller ends it. */
export async function connect(address: string): Promise<pg.Client> {
  const { pathname } = new URL(address);
  const client = new pg.Client(
    withAddress(inject("postgres"), (url) => {
      url.pathname = pathname;
    }),
  );
  await client.connect();
  return client;
}

/** The same address with something changed: the role, the port, the parameters. */
export function withAddress(address: string, change: (url: URL) => void): string {
  const url = new URL(address);
  change(url);
  return url.href;
}

async function create(options: string): Promise<string> {
  const server = inject("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const client = await connect(server);
  await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`);
  await client.query(`CREATE DATABASE ${name} OWNER ${name} ${options}`);
  await client.end();
  return withAddress(server, (url) => {
    url.username = name;
    url.password = name;
    url.pathname = `/${name}`;
  });
}
