/** Erased entries are verified too. Each test damages a sound store in one way. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Retention } from "../../model/session.ts";
import { open } from "../../open.ts";

const USAGE = { inputTokens: 3, outputTokens: 4 };

/**
 * Three messages, two of them covered by a compaction; and the same session id, used before and
 * deleted.
 */
async function problemsAfter(retention: Retention, ...sql: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-verify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  {
    await using engine = await open(path, { inThread: true });
    for (const isLast of [false, true]) {
      const session = await engine.createSession({
        id: "s",
        agent: "test",
        createdBy: "test",
        retention,
      });
      for (const word of ["first", "second", "third"]) {
        const content = `${word} `.repeat(200);
        await session.append({ role: "user", actor: "ann", content, usage: USAGE });
      }
      await session.compact({ keep: { messages: 1 } });
      if (!isLast) await session.delete();
    }
    expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
  }
  const db = new DatabaseSync(path);
  for (const statement of sql) {
    expect(Number(db.prepare(statement).run().changes), statement).toBeGreaterThan(0);
  }
  db.close();
  await using engine = await open(path, { inThread: true, readOnly: true });
  return (await engine.verify()).problems.map(({ problem }) => problem).join("; ");
}

describe("verify finds", () => {
  test.each([
    ["the actor", "actor = 'bob'"],
    ["the time", "created_at = created_at + 1"],
    ["token counts", "input_tokens = 5"],
    ["the hash of the content", "content_hash = randomblob(32)"],
    ["a hash to NULL", "content_hash = NULL"],
  ])("a change of %s of an entry without content", async (_, change) => {
    const problems = await problemsAfter(
      "audit-only",
      `UPDATE entries SET ${change} WHERE sequence = 1`,
    );
    expect(problems).toMatch(/does not match its hash|the feed names 0/);
  });

  test.each([
    ["the time", "created_at = created_at + 1"],
    ["the parent", "parent_id = 'other'"],
    ["the place", "depth = depth + 1"],
    ["the role", "role = 'system'"],
  ])("a change of %s of a tombstone", async (_, change) => {
    const problems = await problemsAfter(
      "ephemeral",
      `UPDATE entries SET ${change} WHERE sequence = 2`,
    );
    expect(problems).toContain("the digest of erased entries differs from change");
  });

  test("an entry that was emptied to look like a tombstone", async () => {
    const emptied = "content = NULL, nonce = NULL, content_hash = NULL";
    for (const [retention, count] of [
      ["full", 0],
      ["ephemeral", 2],
    ] as const) {
      const problems = await problemsAfter(
        retention,
        `UPDATE entries SET ${emptied} WHERE sequence = 3`,
      );
      expect(problems).toContain(
        `the session has ${count + 1} tombstones, the feed names ${count}`,
      );
    }
  });

  test("a tombstone with a forged text", async () => {
    const words = "content = CAST('[]' AS BLOB), nonce = randomblob(16)";
    const problems = await problemsAfter(
      "ephemeral",
      `UPDATE entries SET ${words} WHERE sequence = 1`,
    );
    expect(problems).toContain("the session has 1 tombstones, the feed names 2");
    expect(problems).toContain("does not match its hash");
  });

  test("tokens that differ from the sum of the entries and the feed", async () => {
    const problems = await problemsAfter(
      "ephemeral",
      "UPDATE session_state SET output_tokens = output_tokens + 1",
    );
    expect(problems).toBe("the session's entries used 21 tokens, its row says 22");
  });
});
