/**
 * Externally modified rows: the call that would return one reports it, other calls work, and a
 * verification completes.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { SessionHandle } from "../src/engine/session-handle.ts";
import { open } from "../src/open.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase, query } from "./support/postgres.ts";

interface Backend {
  readonly name: string;
  readonly create: () => Promise<string>;
  /** Runs a statement that both databases take. */
  readonly change: (address: string, sql: string) => Promise<void>;
  /** Bytes as a literal. */
  readonly bytes: (text: string) => string;
}

const BACKENDS: readonly Backend[] = [
  {
    name: "SQLite",
    create: async () => join(createFolder(), "x.db"),
    change: async (address, sql) => {
      const db = new DatabaseSync(address);
      db.exec("PRAGMA foreign_keys = OFF");
      db.exec(sql);
      db.close();
    },
    bytes: (text) => `x'${Buffer.from(text).toString("hex")}'`,
  },
  {
    name: "PostgreSQL",
    create: createDatabase,
    change: async (address, sql) => {
      await query(address, sql);
    },
    bytes: (text) => `'\\x${Buffer.from(text).toString("hex")}'::bytea`,
  },
];

describe.each(BACKENDS)("on $name", ({ create, change, bytes }) => {
  let address = "";
  let ids: string[] = [];

  /** Sessions `s`, with a branch, and `other`. */
  beforeEach(async () => {
    address = await create();
    await using engine = await open(address, { inThread: true });
    const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
    const entries = await session.append(messages(10));
    ids = entries.map(({ id }) => id);
    await session.append({ role: "user", content: "branch" }, { parent: ids[4] ?? "" });
    const other = await engine.createSession({ id: "other", agent: "test", createdBy: "test" });
    await other.append(messages(3));
  });

  function messages(count: number) {
    return Array.from({ length: count }, (_, i) => ({
      role: "user" as const,
      actor: "ana",
      content: `message ${i}`,
      metadata: { number: i },
    }));
  }

  /** The store after a change, with the problems that a verification finds. */
  async function problemsAfter(
    sql: string,
    look: (session: SessionHandle, engine: Engine) => Promise<void>,
  ): Promise<string[]> {
    await change(address, sql);
    await using engine = await open(address, { inThread: true, readOnly: true });
    const other = await engine.getSession("other");
    expect((await other.listMessages()).messages).toHaveLength(3);
    await look(engine.session("s"), engine);
    const { ok, problems, problemCount } = await engine.verify();
    expect([ok, problemCount]).toEqual([false, problems.length]);
    return problems.map(({ problem }) => problem);
  }

  const damaged = (details: object) => ({ code: "store_corrupt", details });

  test.each([
    ["content", `content = ${bytes('[{"type":"text","text":"forged"}]')}`],
    ["invalid JSON as content", `content = ${bytes('[{"type":"te\nxt","text":"message 2"}]')}`],
    ["invalid JSON as metadata", `metadata = ${bytes('{"number":\n')}`],
    ["role", "role = 'system'"],
    ["actor", "actor = 'eve'"],
    ["time", "created_at = created_at + 1"],
    ["nonce", "nonce = content_hash"],
  ])("a modified entry (%s) is reported, and others are read", async (_, set) => {
    const [id = "", next = ""] = ids.slice(2);
    const problems = await problemsAfter(
      `UPDATE entries SET ${set} WHERE id = '${id}'`,
      async (session, engine) => {
        const told = damaged({ entryId: id, sessionId: "s" });
        await expect(session.listMessages()).rejects.toMatchObject(told);
        await expect(session.history()).rejects.toMatchObject(told);
        await expect(session.listEntries()).rejects.toMatchObject(told);
        await expect(session.listEntries({ tree: true })).rejects.toMatchObject(told);
        await expect(engine.getEntry(id)).rejects.toMatchObject(told);
        await expect(session.buildContext({ tokenBudget: 9_000 })).rejects.toMatchObject(told);
        await expect(engine.getEntry(next)).resolves.toMatchObject({ id: next });
        const { messages: before } = await session.listMessages({ limit: 2 });
        const { messages: rest } = await session.listMessages({ offset: 3 });
        expect([before.length, rest.length]).toEqual([2, 3]);
      },
    );
    // On SQLite an entry's time may be that of its change, too.
    expect(problems).toContain("the entry does not match its hash");
  });

  test("a page that lacks a message of its range is reported", async () => {
    const [id = ""] = ids.slice(2);
    const problems = await problemsAfter(
      `DELETE FROM entries WHERE id = '${id}'`,
      async (session) => {
        const told = damaged({ sessionId: "s" });
        await expect(session.listMessages({ offset: 1, limit: 3 })).rejects.toMatchObject(told);
        await expect(session.history({ limit: 5 })).rejects.toMatchObject(told);
        await expect(session.listEntries({ tree: true })).rejects.toMatchObject(told);
        expect((await session.listMessages({ limit: 2 })).messages).toHaveLength(2);
      },
    );
    expect(problems).toContain("entry 3 of the session is missing");
  });

  test("a leaf that contradicts its entry is reported", async () => {
    const problems = await problemsAfter(
      "UPDATE session_state SET leaf_ordinal = leaf_ordinal - 4 WHERE leaf_ordinal = 6",
      async (session) => {
        await expect(session.listMessages()).rejects.toMatchObject(damaged({ sessionId: "s" }));
      },
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain("its active leaf contradicts the leaf's entry");
  });

  test.each([
    ["last_sequence", -3],
    ["last_sequence", 64],
    ["last_chain", -1],
    ["last_chain", 16],
  ])("a session whose %s is off by %i is reported, and refuses appends", async (column, by) => {
    const problems = await problemsAfter(
      `UPDATE session_state SET ${column} = ${column} + ${by} WHERE last_sequence = 11`,
      async (session) => {
        await expect(session.listMessages()).rejects.toMatchObject(damaged({ sessionId: "s" }));
      },
    );
    // Entries above a lower last sequence are not read, and the leaf is one of them.
    const told = by === -3 ? "the active leaf is no entry of" : "its newest have other numbers";
    expect(problems.join()).toContain(told);
    await using engine = await open(address, { inThread: true });
    const session = engine.session("s");
    for (const parent of [undefined, ids[2]]) {
      const appended = session.append(messages(1), parent === undefined ? {} : { parent });
      await expect(appended).rejects.toMatchObject(damaged({ sessionId: "s" }));
    }
    expect(await engine.session("other").append(messages(1))).toHaveLength(1);
  });

  test.each(["fork_depth = 3", "fork_ordinal = 3", "parent_chain = 2"])(
    "a branch with a wrong fork point (%s) is reported",
    async (set) => {
      const problems = await problemsAfter(
        `UPDATE chains SET ${set} WHERE chain = 2`,
        async (session) => {
          await expect(session.listEntries()).rejects.toMatchObject(damaged({ sessionId: "s" }));
          await expect(session.listMessages()).rejects.toMatchObject(damaged({ sessionId: "s" }));
        },
      );
      expect(problems[0]).toBe("chain 2 does not leave the tree where its first entry does");
    },
  );

  test("a session with invalid metadata is reported by id, and no other", async () => {
    const problems = await problemsAfter(
      `UPDATE sessions SET metadata = ${bytes("{\n")} WHERE id = 's'`,
      async (session, engine) => {
        const told = damaged({ sessionId: "s" });
        await expect(engine.listSessions()).rejects.toMatchObject(told);
        await expect(session.meta()).rejects.toMatchObject(told);
        expect((await session.listMessages()).messages).toHaveLength(6);
      },
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^session s is damaged: its metadata/);
  });

  test("a change with invalid details is reported", async () => {
    const problems = await problemsAfter(
      `UPDATE changes SET details = ${bytes("{\n")} WHERE position = 1`,
      async (_, engine) => {
        await expect(engine.listChanges()).rejects.toMatchObject({
          code: "store_corrupt",
          message: expect.stringContaining("change 1 of the feed is damaged"),
        });
      },
    );
    expect(problems).toEqual(["change 1 does not match its hash"]);
  });

  test("unreadable memories and access tokens are found", async () => {
    {
      await using engine = await open(address, { inThread: true });
      for (const name of ["first", "second"]) {
        await engine.putMemory({ agent: "coder", name, content: "tabs", metadata: { by: 1 } });
      }
      await engine.createToken({ scope: "write", actor: "ana", actAs: ["eve"] });
      await engine.createToken({ scope: "read" });
    }
    await change(address, `UPDATE access_tokens SET act_as = '{\n' WHERE scope = 'write'`);
    const problems = await problemsAfter(
      `UPDATE memories SET metadata = ${bytes("{\n")} WHERE name = 'second'`,
      async () => {},
    );
    expect(problems).toEqual([
      "the memory second of agent coder is damaged: it is no JSON; memories behind it were not read",
      expect.stringMatching(
        /^the access token .+ is damaged: .+; access tokens behind it were not/,
      ),
    ]);
  });

  test("a gap in the feed is reported", async () => {
    const problems = await problemsAfter(
      "DELETE FROM changes WHERE position = 1",
      async (_, engine) => {
        const told = { message: expect.stringContaining("change 1 of the feed is damaged: it is") };
        await expect(engine.listChanges()).rejects.toMatchObject(told);
        const following = engine.subscribe({ after: "start" });
        await expect(following.next()).rejects.toMatchObject(told);
      },
    );
    expect(problems[0]).toBe("change 1 is missing from the feed");
  });

  test.each([
    ["session_state SET message_count = message_count + 1", "messages, its row says"],
    ["session_state SET content_bytes = content_bytes + 1", "bytes, its row says"],
    ["tenants SET session_count = session_count + 1", "the tenant has 2 sessions, its row says 3"],
    ["tenants SET content_bytes = content_bytes + 1", "bytes of content, its row says"],
  ])("a wrong count is found: %s", async (set, problem) => {
    const problems = await problemsAfter(`UPDATE ${set}`, async () => {});
    expect(problems[0]).toContain(problem);
  });
});

test("doctor --verify reports damage in JSON, and ends with its exit code", async () => {
  const folder = createFolder();
  const db = join(folder, "x.db");
  {
    await using engine = await open(db, { inThread: true });
    for (const id of ["a", "b"]) {
      const session = await engine.createSession({ id, agent: "test", createdBy: "test" });
      await session.append({ role: "user", content: "hello" });
    }
  }
  const file = new DatabaseSync(db);
  file.exec(`UPDATE entries SET content = CAST(replace(CAST(content AS TEXT), 'e', char(10)) AS BLOB)
    WHERE entry = (SELECT min(entry) FROM entries)`);
  file.exec("UPDATE sessions SET metadata = x'0a' WHERE id = 'b'");
  file.close();
  const ran = await callCli(["doctor", "--verify", "--db", db], { env: { HOME: folder } });
  expect([ran.code, ran.stderr]).toEqual([1, ""]);
  expect(ran.stdout).toContain("the entry does not match its hash");
  expect(ran.stdout).toContain("session b is damaged");
  expect(ran.stdout).toMatch(/: \d problems/);
});

test("a nonce that is not bytes is damage of its entry, for a read and for a verification", async () => {
  const address = join(createFolder(), "x.db");
  await using engine = await open(address, { inThread: true });
  const session = await engine.createSession({ agent: "test", createdBy: "test" });
  const entry = await session.append({ role: "user", content: "hello" });
  const db = new DatabaseSync(address);
  onTestFinished(() => db.close());
  for (const value of ["'text'", "7", "0.5"]) {
    db.exec(`UPDATE entries SET nonce = ${value}`);
    await expect(session.listMessages()).rejects.toMatchObject({ code: "store_corrupt" });
    const { ok, problems } = await engine.verify();
    expect([ok, new Set(problems.map(({ entryId }) => entryId))]).toEqual([
      false,
      new Set([entry.id]),
    ]);
  }
});
