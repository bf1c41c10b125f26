/** Databases for tests, on the server that the test run has started. */

import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** Creates an empty database and gives its address. It goes away with the server. */
export function createDatabase(): Promise<string> {
  return create("");
}

/** A database that sorts text as people do ("a" before "B"), where the other one compares bytes. */
export function createIcuDatabase(): Promise<string> {
  return create("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'");
}

/** Runs statements as the superuser: what a test arranges or looks at behind the store's back. */
export async function query(
  address: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    const result = await client.query(sql, values.length === 0 ? undefined : [...values]);
    return result.rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/** The same database for another role, or another host, or with other parameters. */
export function withAddress(address: string, change: (url: URL) => void): string {
  const url = new URL(address);
  change(url);
  return url.href;
}

async function create(options: string): Promise<string> {
  const server = inject("postgres");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await query(server, `CREATE DATABASE ${name} ${options}`);
  return withAddress(server, (url) => {
    url.pathname = `/${name}`;
  });
}
