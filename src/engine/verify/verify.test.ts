/** Every change behind the store's back is found. Each test damages a sound store in one way. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { fixture, importText } from "../../../test/support/transcripts.ts";
import { open } from "../../open.ts";
import type { MessageInput } from "../message-input.ts";

/** A store with a branch, a fork, a blob, a label, an aborted message and a deleted session. */
async function createStore(): Promise<{ path: string; head: string }> {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-verify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  await using engine = await open(path, { inThread: true });
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  const first = await session.append({ role: "user", actor: "ann", content: "first" });
  await session.append({ role: "assistant", content: "large ".repeat(5_000) });
  await session.append({ role: "user", content: "branch" }, { parent: first.id });
  await session.label(first.id, "start");
  const message = await session.openMessage({ role: "assistant" });
  await message.write("never finished");
  await message.abort();
  await session.fork({ id: "fork", createdBy: "test" });
  const gone = await engine.createSession({ id: "gone", agent: "test", createdBy: "test" });
  await gone.append({ role: "user", content: "forget me" });
  await gone.delete();
  const report = await engine.verify();
  expect(report).toMatchObject({ ok: true, problems: [], tenants: 1, sessions: 2 });
  return { path, head: report.heads["default"] ?? "" };
}

/** Runs `sql` on the file, and gives the verification's problems. */
async function problemsAfter(...sql: readonly string[]): Promise<string> {
  const { path } = await createStore();
  const db = new DatabaseSync(path);
  db.exec("PRAGMA foreign_keys = OFF");
  for (const statement of sql) {
    expect(Number(db.prepare(statement).run().changes), statement).toBeGreaterThan(0);
  }
  db.close();
  await using engine = await open(path, { inThread: true, readOnly: true });
  const { ok, problems } = await engine.verify();
  expect(ok).toBe(problems.length === 0);
  return problems.map((each) => each.problem).join("; ");
}

const FIRST = "session = 1 AND sequence = 1";

describe("verify finds", () => {
  test("no problem in mutable fields: pins, titles, superseding entries", async () => {
    const unchanged = [
      `UPDATE entries SET pinned = 1 WHERE ${FIRST}`,
      `UPDATE entries SET superseded_by = 'x' WHERE ${FIRST}`,
      "UPDATE sessions SET title = 'other'",
    ];
    expect(await problemsAfter(...unchanged)).toBe("");
  });

  test.each([
    ["content", `content = '[{"type":"text","text":"forged"}]'`],
    ["the actor", "actor = 'bob'"],
    ["the role", "role = 'system'"],
    ["the time", "created_at = created_at + 1"],
    ["the model", "model = 'other'"],
    ["metadata", `metadata = '{"a":1}'`],
    ["the nonce", "nonce = randomblob(16)"],
    ["the place", "depth = depth + 1"],
    ["the id", "id = '01ARYZ6S41TSV4RRFFQ69G5FAV'"],
    ["token counts", "input_tokens = 5"],
  ])("a change of %s", async (_, change) => {
    expect(await problemsAfter(`UPDATE entries SET ${change} WHERE ${FIRST}`)).toContain(
      "does not match its hash",
    );
  });

  test("a change with a forged hash", async () => {
    const problems = await problemsAfter(`UPDATE entries SET hash = randomblob(32) WHERE ${FIRST}`);
    expect(problems).toContain("change 2 does not match its hash");
    expect(problems).toContain("the entry does not match its hash");
    const label = "UPDATE entries SET hash = randomblob(32) WHERE kind = 'label'";
    expect(await problemsAfter(label)).toContain("differs from the feed");
  });

  test("a missing entry, and the last one of a session", async () => {
    expect(await problemsAfter(`DELETE FROM entries WHERE ${FIRST}`)).toContain("missing");
    const last = `DELETE FROM entries WHERE session = 1
      AND sequence = (SELECT max(sequence) FROM entries WHERE session = 1)`;
    const problems = await problemsAfter(last);
    expect(problems).toContain("the feed names this entry, but the session lacks it");
    expect(problems).toContain("its row says");
  });

  test("wrong counters", async () => {
    expect(
      await problemsAfter("UPDATE session_state SET message_count = message_count + 1"),
    ).toContain("messages, its row says");
    expect(await problemsAfter("UPDATE session_state SET leaf_id = 'none'")).toContain(
      "the active leaf is no entry",
    );
  });

  test("a rewritten, truncated or stripped feed", async () => {
    expect(await problemsAfter("UPDATE changes SET at = at + 1 WHERE position = 1")).toContain(
      "change 1 does not match its hash",
    );
    expect(await problemsAfter("DELETE FROM changes WHERE position = 1")).toContain(
      "change 1 is missing",
    );
    const moved = `UPDATE entries SET fed_at = created_at + 60000 WHERE ${FIRST}`;
    expect(await problemsAfter(moved)).toContain("change 2 does not match its hash");
    const untold = `UPDATE entries SET fed_hash = NULL WHERE ${FIRST}`;
    expect(await problemsAfter(untold)).toContain("change 2 is missing");
    const last = "DELETE FROM changes WHERE position = (SELECT max(position) FROM changes)";
    expect(await problemsAfter(last)).toContain("the feed ends at");
  });

  test("changes behind a gap in the feed", async () => {
    const { path } = await createStore();
    {
      await using engine = await open(path, { inThread: true });
      const session = await engine.createSession({ id: "long", agent: "test", createdBy: "test" });
      const batch = Array.from({ length: 500 }, (_, i): MessageInput => {
        return { role: "user", content: `message ${i}` };
      });
      for (let i = 0; i < 2; i++) await session.append(batch);
    }
    const long = "session = (SELECT session FROM sessions WHERE id = 'long')";
    const db = new DatabaseSync(path);
    db.exec(`UPDATE entries SET fed_hash = NULL WHERE ${long} AND sequence BETWEEN 201 AND 700`);
    db.exec(`UPDATE entries SET fed_at = created_at + 60000 WHERE ${long} AND sequence = 900`);
    db.close();
    await using engine = await open(path, { inThread: true, readOnly: true });
    const { problems } = await engine.verify();
    expect(problems.map(({ problem }) => problem.replace(/\d+/, "N"))).toEqual([
      "change N is missing from the feed",
      "change N does not match its hash",
      "change N does not match its hash",
    ]);
  });

  test("a deleted session without its tombstone", async () => {
    expect(await problemsAfter("DELETE FROM tombstones")).toContain("without a tombstone");
  });

  test("every entry of an unreadable pack, and other problems", async () => {
    const { path } = await createStore();
    {
      await using engine = await open(path, { inThread: true });
      await importText(engine, fixture("claude-code/version-2.jsonl"));
    }
    const db = new DatabaseSync(path);
    const packed = db.prepare("SELECT count(*) AS count FROM entries WHERE pack IS NOT NULL").get();
    db.exec("UPDATE packs SET bytes = x'00'");
    db.exec("UPDATE session_state SET message_count = message_count + 1 WHERE session = 1");
    db.close();
    await using engine = await open(path, { inThread: true, readOnly: true });
    const { problems } = await engine.verify();
    const unreadable = problems.filter(({ problem }) =>
      problem.includes("its pack cannot be read"),
    );
    expect(unreadable).toHaveLength(Number(packed?.["count"]));
    expect(unreadable.length).toBeGreaterThan(5);
    const others = problems.filter((problem) => !unreadable.includes(problem));
    expect(others.map(({ sessionId }) => sessionId)).toEqual(["s"]);
  });

  test("a payload that differs from its hash", async () => {
    const forged = "UPDATE blobs SET codec = 'none', bytes = CAST('\"forged\"' AS BLOB)";
    expect(await problemsAfter(forged)).toContain("does not match its address");
  });

  test.each([
    ["missing", "DELETE FROM blobs"],
    ["not compressed", "UPDATE blobs SET codec = 'zstd', bytes = x'00010203'"],
  ])("a payload that is %s, while searches continue", async (_, damage) => {
    const { path } = await createStore();
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA foreign_keys = OFF; ${damage}`);
    db.close();
    await using engine = await open(path, { inThread: true });
    const { problems } = await engine.verify();
    const held = problems.filter(({ entryId }) => entryId !== null);
    expect(held.length).toBeGreaterThan(0);
    expect(problems.map(({ problem }) => problem).join("; ")).toContain("is missing, or does not");
    // In the tail, where the payload's head is still known, and in a segment.
    for (const task of ["maintain", "rebuild"] as const) {
      expect((await engine.searchSessions("first")).hits).toHaveLength(1);
      expect((await engine.searchSessions("large", { branches: "all" })).hits).toHaveLength(1);
      await engine.maintainIndex(task);
    }
    expect((await engine.searchSessions("first")).hits).toHaveLength(1);
  });

  test("a truncated feed with a new head, by a head noted before", async () => {
    const { path, head } = await createStore();
    const db = new DatabaseSync(path);
    const sound = db.prepare(
      "SELECT position, hash FROM changes ORDER BY position DESC LIMIT 1 OFFSET 1",
    );
    const row = sound.get() as { position: number; hash: Uint8Array };
    db.prepare("DELETE FROM changes WHERE position > ?").run(row.position);
    db.prepare("UPDATE tenants SET feed_position = ?, feed_hash = ?").run(row.position, row.hash);
    db.exec("DELETE FROM tombstones");
    db.close();
    await using engine = await open(path, { inThread: true, readOnly: true });
    const { problems } = await engine.verify({ head });
    expect(problems.map((each) => each.problem).join()).toContain(`the head ${head}`);
  });

  test("that a feed continues from a head noted before", async () => {
    const { path, head } = await createStore();
    await using engine = await open(path, { inThread: true });
    await (await engine.getSession("s")).append({ role: "user", content: "later" });
    expect(await engine.verify({ head })).toMatchObject({ ok: true });
    expect(await engine.verify({ head: "00".repeat(32) })).toMatchObject({ ok: false });
  });
});
