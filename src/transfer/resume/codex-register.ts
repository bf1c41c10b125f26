/**
 * Codex's register of threads: a SQLite database with its version in the file name.
 *
 * `codex resume` lists registered threads; Codex registers others when it opens them by id. A
 * register of an unknown schema is left unchanged.
 */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

export interface CodexThread {
  readonly id: string;
  readonly file: string;
  readonly cwd: string;
  readonly title: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The database's path; null if missing or of an unknown schema. */
export async function registerThread(home: string, thread: CodexThread): Promise<string | null> {
  const file = await findRegister(home);
  if (file === null) return null;
  const provider = await providerOf(home);
  try {
    const sqlite = await import("node:sqlite");
    const database = new sqlite.DatabaseSync(file);
    try {
      database.exec("PRAGMA busy_timeout = 2000");
      return insert(database, thread, provider) ? file : null;
    } finally {
      database.close();
    }
  } catch {
    // Locked, or not a database: Codex registers the thread when it opens it.
    return null;
  }
}

async function findRegister(home: string): Promise<string | null> {
  const names = await readdir(home).catch(() => []);
  const versions = names.flatMap((name) => {
    const [, version] = /^state_(\d+)\.sqlite$/.exec(name) ?? [];
    return version === undefined ? [] : [{ name, version: Number(version) }];
  });
  const newest = versions.sort((a, b) => b.version - a.version)[0];
  return newest === undefined ? null : join(home, newest.name);
}

/** The list shows the threads of the configured provider. */
async function providerOf(home: string): Promise<string> {
  const text = await readFile(join(home, "config.toml"), "utf8").catch(() => "");
  const top = text.split(/^[ \t]*\[/m, 1)[0] ?? "";
  return /^[ \t]*model_provider[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(top)?.[1] ?? "openai";
}

function insert(database: DatabaseSync, thread: CodexThread, provider: string): boolean {
  const columns = database
    .prepare("SELECT name, \"notnull\", dflt_value FROM pragma_table_info('threads')")
    .all();
  const seconds = Math.floor(thread.now / 1000);
  const values: Readonly<Record<string, string | number>> = {
    id: thread.id,
    rollout_path: thread.file,
    created_at: seconds,
    updated_at: seconds,
    source: "cli",
    model_provider: provider,
    cwd: thread.cwd,
    title: thread.title,
    sandbox_policy: '{"type":"read-only"}',
    approval_mode: "on-request",
    has_user_event: 1,
    cli_version: "0.0.0",
    first_user_message: thread.title,
    preview: thread.title,
    created_at_ms: thread.now,
    updated_at_ms: thread.now,
    thread_source: "user",
    recency_at: seconds,
    recency_at_ms: thread.now,
    history_mode: "legacy",
  };
  const known = columns.filter(({ name }) => Object.hasOwn(values, String(name)));
  const isUnderstood = columns.every(
    ({ name, notnull, dflt_value }) =>
      notnull === 0 || dflt_value !== null || Object.hasOwn(values, String(name)),
  );
  if (columns.length === 0 || !isUnderstood) return false;
  const names = known.map(({ name }) => String(name));
  const marks = names.map(() => "?").join(", ");
  database
    .prepare(`INSERT OR IGNORE INTO threads (${names.join(", ")}) VALUES (${marks})`)
    .run(...names.map((name) => values[name] ?? ""));
  return true;
}
