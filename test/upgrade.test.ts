/** Stores of other versions: older rows, newer rows, and schemas to refuse. */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { BackscrollError, open, textOf } from "../src/index.ts";
import { NULL_FIELDS } from "../src/store/cases/fixture.cases.ts";
import { SQLITE_MIGRATIONS } from "../src/store/sqlite/schema/index.ts";
import { SqliteConnection } from "../src/store/sqlite/sqlite-driver.ts";
import { migrate } from "../src/store/sqlite/sqlite-schema.ts";
import { contentDigest, entryHex } from "../src/transcript/hash.ts";
import { createFolder } from "./support/folder.ts";

/** A store with one session and one message, closed. */
async function createStore(): Promise<string> {
  const path = join(createFolder(), "store.db");
  await using engine = await open(path, { inThread: true });
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  await session.append({ role: "user", content: "first" });
  return path;
}

/** Simulates another version's change of the file. */
function change(path: string, ...sql: readonly string[]): void {
  const db = new DatabaseSync(path);
  for (const statement of sql) db.exec(statement);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

function newerSchema(minReader: number, minWriter: number): string {
  return `INSERT INTO schema (version, name, min_reader, min_writer, applied_at)
    VALUES (99, 'from-the-future', ${minReader}, ${minWriter}, 0)`;
}

function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function failure(action: () => Promise<unknown>): Promise<BackscrollError> {
  try {
    await action();
  } catch (error) {
    if (BackscrollError.is(error)) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

describe("a newer schema", () => {
  test("that excludes us is refused with the way out, and left unchanged", async () => {
    const path = await createStore();
    change(path, newerSchema(99, 99));
    const before = digest(path);
    for (const options of [{}, { inThread: true }, { readOnly: true }]) {
      const error = await failure(() => open(path, options));
      expect(error.code).toBe("schema_too_new");
      expect(error.message).toContain("update backscroll");
      expect(error.details["version"]).toBe(99);
    }
    expect(digest(path)).toBe(before);
  });

  test("that we may read but not write is read", async () => {
    const path = await createStore();
    change(path, newerSchema(1, 99));
    expect((await failure(() => open(path))).code).toBe("schema_too_new");
    await using engine = await open(path, { readOnly: true });
    const { messages } = await engine.listMessages("s");
    expect(messages.map((message) => textOf(message.blocks))).toEqual(["first"]);
  });

  test("that only adds to ours is used", async () => {
    const path = await createStore();
    change(
      path,
      newerSchema(1, 1),
      "ALTER TABLE sessions ADD COLUMN mood TEXT",
      "ALTER TABLE entries ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",
      "CREATE TABLE moods (mood TEXT PRIMARY KEY)",
      "UPDATE sessions SET mood = 'bright'",
    );
    {
      await using engine = await open(path, { inThread: true });
      const session = await engine.getSession("s");
      await session.append({ role: "assistant", content: "second" });
      await session.setTitle("title");
      await session.fork({ createdBy: "test" });
      expect((await engine.verify()).problems).toEqual([]);
    }
    const db = new DatabaseSync(path, { readOnly: true });
    expect(db.prepare("SELECT mood FROM sessions WHERE id = 's'").get()).toEqual({
      mood: "bright",
    });
    expect(db.prepare("SELECT max(version) AS version FROM schema").get()).toEqual({ version: 99 });
    db.close();
  });

  test.each([true, false])(
    "that appears while the store is open stops writes (inThread: %s)",
    async (inThread) => {
      const path = await createStore();
      await using engine = await open(path, { inThread });
      const session = await engine.getSession("s");
      await session.append({ role: "user", content: "before" });
      change(path, newerSchema(1, 99));
      const late = await failure(() => session.append({ role: "user", content: "after" }));
      expect(late.code).toBe("schema_too_new");
      expect((await session.meta()).messageCount).toBe(2);
    },
  );
});

test.each([true, false])(
  "a store that becomes unreadable while it is open is not misread (inThread: %s)",
  async (inThread) => {
    const path = await createStore();
    await using engine = await open(path, { inThread });
    const session = await engine.getSession("s");
    expect((await session.meta()).messageCount).toBe(1);
    change(path, newerSchema(99, 99));
    expect((await failure(() => session.listMessages())).code).toBe("schema_too_new");
    expect((await failure(() => engine.searchSessions("anything"))).code).toBe("schema_too_new");
  },
);

describe("an older schema", () => {
  test("is never migrated by a reader", async () => {
    const path = join(createFolder(), "empty.db");
    writeFileSync(path, "");
    const error = await failure(() => open(path, { readOnly: true }));
    expect(error.code).toBe("needs_migration");
    expect(readFileSync(path).length).toBe(0);
    await using engine = await open(path, { inThread: true });
    expect((await engine.status()).schemaVersion).toBeGreaterThan(0);
  });

  test("is migrated by a writer, with all rows", async () => {
    const path = await createStore();
    const sql = "ALTER TABLE sessions ADD COLUMN mood TEXT; UPDATE sessions SET mood = 'calm'";
    const version = 1 + (SQLITE_MIGRATIONS.at(-1)?.version ?? 0);
    const next = { version, name: "mood", minReader: 18, minWriter: 18, sql };
    const db = new SqliteConnection(path);
    for (const _ of ["once", "and nothing more"]) migrate(db, [...SQLITE_MIGRATIONS, next]);
    expect(db.get("SELECT mood FROM sessions")).toEqual({ mood: "calm" });
    db.close();
    await using engine = await open(path, { inThread: true });
    const { messages } = await engine.listMessages("s");
    expect(messages.map((message) => textOf(message.blocks))).toEqual(["first"]);
    expect((await engine.status()).schemaVersion).toBe(version);
    expect((await engine.verify()).problems).toEqual([]);
  });

  test("from before the first release is refused with the way out, and left unchanged", async () => {
    const path = await createStore();
    change(
      path,
      "DELETE FROM schema WHERE version > 18",
      "UPDATE schema SET version = 17, name = 'session-models', min_reader = 11",
    );
    const before = digest(path);
    for (const options of [{}, { inThread: true }, { readOnly: true }]) {
      const error = await failure(() => open(path, options));
      expect(error.code).toBe("schema_too_old");
      expect(error.message).toContain("backscroll ingest --db FILE");
      expect(error.message).toContain("backscroll export ID --format atif FILE");
      expect(error.details).toMatchObject({ version: 17, supported: 18 });
    }
    expect(digest(path)).toBe(before);
  });
});

describe("rows that another version wrote", () => {
  test("get defaults for missing columns", async () => {
    const path = await createStore();
    change(
      path,
      // Only the columns that the first schema requires.
      `INSERT INTO sessions (tenant, session, id, agent, created_by, owner, created_at)
        VALUES (1, 50, 'old', 'agent', 'ann', 'ann', 1000)`,
      `INSERT INTO session_state (tenant, session, updated_at, last_interaction_at, last_write_at)
        VALUES (1, 50, 1000, 1000, 1000)`,
      "UPDATE tenants SET last_session = 50, session_count = session_count + 1",
    );
    await using engine = await open(path, { inThread: true });
    expect(await engine.getSessionMeta("old")).toEqual({
      ...NULL_FIELDS,
      id: "old",
      shortId: "old",
      tenant: "default",
      agent: "agent",
      createdBy: "ann",
      createdAt: 1_000,
      owner: "ann",
      title: "",
      participants: [],
      metadata: {},
      retention: "full",
      origin: {},
      startedAt: 1_000,
      updatedAt: 1_000,
      lastInteractionAt: 1_000,
      lastWriteAt: 1_000,
      messageCount: 0,
      entryCount: 0,
      tokens: { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 },
    });
    expect((await engine.listSessions({ title: "x" })).sessions).toEqual([]);
    // These rows are usable like any other.
    const session = await engine.getSession("old");
    await session.setTitle("Named at last");
    await session.append({ role: "user", actor: "ann", content: "hello" });
    expect((await engine.listSessions({ title: "named" })).sessions.map((each) => each.id)).toEqual(
      ["old"],
    );
    const next = await engine.createSession({ agent: "test", createdBy: "test" });
    await next.append({ role: "user", content: "still numbered right" });
    expect((await engine.verify()).problems).toEqual([]);
  });

  test("keep unknown fields, also when others change", async () => {
    const path = await createStore();
    const metadata = '{"known":1,"later":{"deep":[1,{"x":null}]},"__proto__":{"a":1}}';
    change(path, `UPDATE sessions SET metadata = CAST('${metadata}' AS BLOB)`);
    await using engine = await open(path, { inThread: true });
    const session = await engine.getSession("s");
    await session.update({ metadata: { known: 2 }, title: "t" });
    const stored = JSON.stringify((await session.meta()).metadata);
    expect(stored).toBe('{"known":2,"later":{"deep":[1,{"x":null}]},"__proto__":{"a":1}}');
  });

  test("of unknown kinds are shown, not counted, and block nothing", async () => {
    const path = await createStore();
    const hologram = "01ZZZZZZZZZZZZZZZZZZZZZZZZ";
    const content = '{"blocks":[{"type":"light","w":3}],"data":{"a":1}}';
    const nonce = "00".repeat(16);
    const hash = hashAfterFirst(path, { id: hologram, kind: "hologram" }, nonce, content);
    change(
      path,
      `INSERT INTO entries (tenant, session, sequence, id, parent_id, chain, depth, ordinal, kind,
          status, created_at, content, content_bytes, nonce, hash)
        SELECT tenant, session, 2, '${hologram}', id, chain, depth, ordinal, 'hologram',
          'committed', created_at, CAST('${content}' AS BLOB), 10, x'${nonce}', x'${hash}'
        FROM entries WHERE sequence = 1`,
      "UPDATE session_state SET last_sequence = 2",
    );
    await using engine = await open(path, { inThread: true });
    const session = await engine.getSession("s");
    const entry = await session.getEntry(hologram);
    expect(entry).toMatchObject({ kind: "hologram", index: null, data: { a: 1 } });
    expect(entry.blocks).toEqual([{ type: "light", w: 3 }]);
    await session.append({ role: "assistant", content: "second" });
    const { messages, total } = await session.listMessages();
    expect(messages.map((message) => textOf(message.blocks))).toEqual(["first", "second"]);
    expect(total).toBe(2);
    expect((await session.listEntries({ tree: true })).entries.map((each) => each.kind)).toEqual([
      "message",
      "hologram",
      "message",
    ]);
    expect((await failure(() => session.branch(hologram))).code).toBe("invalid_input");
  });

  test("with content that was erased are shown empty", async () => {
    const path = await createStore();
    change(path, "UPDATE entries SET content = NULL, nonce = NULL");
    await using engine = await open(path, { inThread: true });
    const { messages } = await engine.listMessages("s");
    expect(messages).toMatchObject([{ blocks: [], data: null, truncated: false }]);
  });
});

/** The hash of an entry that follows the only one of session `s`, in its place. */
function hashAfterFirst(
  path: string,
  { id, kind }: { readonly id: string; readonly kind: string },
  nonce: string,
  content: string,
): string {
  using db = new DatabaseSync(path, { readOnly: true });
  const first = db
    .prepare("SELECT hex(hash) AS hash, chain, depth, ordinal, created_at FROM entries")
    .get();
  const [chain, depth, ordinal, createdAt] = ["chain", "depth", "ordinal", "created_at"].map(
    (name) => Number(first?.[name]),
  ) as [number, number, number, number];
  return entryHex(
    String(first?.["hash"]),
    contentDigest(nonce, content) ?? "",
    { sequence: 2, chain, depth, ordinal },
    {
      id,
      sessionId: "s",
      kind,
      role: null,
      actor: null,
      model: null,
      adapter: null,
      inputTokens: null,
      outputTokens: null,
      cacheCreationTokens: null,
      cacheReadTokens: null,
      metadata: null,
      copiedFrom: null,
      createdAt,
    },
  );
}
