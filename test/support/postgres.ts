/** Databases for tests, on the server that the test run has started. */

import { randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** A linguistic collation ("a" before "B"); other databases compare bytes. */
const BY_LANGUAGE = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'";

/**
 * The owner of all databases. Not a superuser, because row-level security does not apply to superusers.
 */
const OWNER = "backscroll_owner";

/** Creates a database without a schema, for tests of its creation, and gives its address. */
export async function createEmptyDatabase(): Promise<string> {
  return create(await server(), newName());
}

/** Creates a database with a migrated, empty store, and gives its address. */
export function createDatabase(): Promise<string> {
  return copyOf("template_store", "");
}

/** The same with a linguistic collation. */
export function createIcuDatabase(): Promise<string> {
  return copyOf("template_icu_store", BY_LANGUAGE);
}

/** Runs statements as the superuser, bypassing the store. */
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

/** The address with another role, port or parameter. */
export function withAddress(address: string, change: (url: URL) => void): string {
  const url = new URL(address);
  change(url);
  return url.href;
}

/**
 * A copy of a database that is migrated once per run: migrating takes seven times as long. Each copy
 * gets its own epoch, as each store that is created has.
 */
async function copyOf(template: string, options: string): Promise<string> {
  const client = await server();
  const made = templates.get(template) ?? ensureTemplate(client, template, options);
  templates.set(template, made);
  await made;
  const address = await create(client, newName(), `TEMPLATE ${template} STRATEGY FILE_COPY`);
  await query(address, "UPDATE store SET value = $1 WHERE key = 'epoch'", [randomUUID()]);
  return address;
}

/** This worker's templates. */
const templates = new Map<string, Promise<void>>();

/** Workers share the server: one of them creates the template, the others wait. */
async function ensureTemplate(client: pg.Client, name: string, options: string): Promise<void> {
  await client.query("SELECT pg_advisory_lock(hashtext($1))", [name]);
  const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
  if (found.rowCount === 0) await createTemplate(client, name, options);
  await client.query("SELECT pg_advisory_unlock(hashtext($1))", [name]);
}

async function createTemplate(client: pg.Client, name: string, options: string): Promise<void> {
  const { openPostgresStore } = await import("../../src/store/postgres/open-postgres-store.ts");
  const address = await create(client, `${name}_unfinished`, options);
  await (await openPostgresStore(address)).close();
  // The first process that opens a store sets its indexing.
  await query(address, "DELETE FROM store WHERE key <> 'epoch'");
  await client.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
}

async function create(client: pg.Client, name: string, options = ""): Promise<string> {
  await client.query(`DO $$ BEGIN CREATE ROLE ${OWNER} LOGIN PASSWORD '${OWNER}';
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`);
  await client.query(`CREATE DATABASE ${name} OWNER ${OWNER} ${options}`);
  return withAddress(inject("postgres"), (url) => {
    url.username = OWNER;
    url.password = OWNER;
    url.pathname = `/${name}`;
  });
}

function newName(): string {
  return `test_${randomBytes(8).toString("hex")}`;
}

/**
 * The worker's shared connection: connecting took a quarter of the time of creating a database. It ends
 * with the worker.
 */
function server(): Promise<pg.Client> {
  connected ??= connect(inject("postgres")).then((client) => {
    // At the end of the run the server may stop before the worker.
    client.on("error", () => undefined);
    return client;
  });
  return connected;
}

let connected: Promise<pg.Client> | undefined;
