import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { talk } from "../../../test/support/imported-talk.ts";
import { createDatabase } from "../../../test/support/postgres.ts";
import { fixture, importText, jsonLines } from "../../../test/support/transcripts.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { textOf } from "../../model/block.ts";
import { open } from "../../open.ts";
import type { SessionHandle } from "../session-handle.ts";

async function said(handle: SessionHandle): Promise<string[]> {
  const { messages } = await handle.listMessages({ limit: 500 });
  return messages.map(({ blocks }) => textOf(blocks));
}

async function tree(handle: SessionHandle) {
  return (await handle.listEntries({ tree: true, limit: 500 })).entries;
}

const PI = fixture("pi/version-3.jsonl");
/** pi's additions. */
const NEXT = JSON.stringify({
  type: "message",
  id: "00000018",
  parentId: "00000017",
  timestamp: "2025-12-03T14:00:15.000Z",
  message: { role: "user", content: "Thanks." },
});
const CLAW = fixture("claw-code/compacted.jsonl");

describe("importing a tree", () => {
  test("stores the session with its origin, title, times, models and usage", async () => {
    await using engine = await open(":memory:");
    const { handle, result } = await importText(engine, PI, { path: "/sessions/a.jsonl" });
    expect(result).toEqual({
      sessionId: handle.id,
      created: true,
      entries: 16,
      skipped: 0,
      problems: 1,
      last: expect.any(String),
      key: expect.any(String),
      forgotten: false,
    });
    expect(await handle.meta()).toMatchObject({
      agent: "pi",
      title: "Cron runs twice",
      startedAt: Date.UTC(2025, 11, 3, 14),
      origin: {
        source: "pi",
        key: "pi:6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f",
        projectPath: "/srv/shop",
        file: "/sessions/a.jsonl",
      },
      tokens: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 5, cacheCreationTokens: 7 },
      updatedAt: Date.UTC(2025, 11, 3, 14, 0, 14),
    });
  });

  test("ends at the source's leaf, with every branch and label", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, PI);
    expect(await said(handle)).toEqual([
      "Why does the cron job run twice?",
      "I look.",
      "Look at systemd.",
    ]);
    expect(await handle.branches()).toHaveLength(2);
    const entries = await tree(handle);
    const question = entries.find(({ blocks }) => textOf(blocks).startsWith("Why"));
    expect(await handle.labels()).toEqual(new Map([[question?.id, "the question"]]));
    const compaction = entries.find(({ kind }) => kind === "compaction");
    const kept = entries.find(({ blocks }) => textOf(blocks) === "And here?");
    expect(compaction?.data).toMatchObject({ firstKeptEntryId: kept?.id, tokensBefore: 50000 });
    // The active path bypasses it.
    expect((await handle.meta()).summary).toBeNull();
  });

  test("takes over the summary of the active path and its coverage", async () => {
    await using engine = await open(":memory:");
    const lines = PI.split("\n");
    const { handle } = await importText(engine, `${lines.slice(0, 13).join("\n")}\n`);
    const shell = (await tree(handle)).find(({ kind }) => kind === "custom_message");
    expect(await handle.meta()).toMatchObject({
      summary: "The job is listed once.",
      summarizedThrough: shell?.id,
    });
  });
});

describe("importing again", () => {
  test.each([PI, CLAW, fixture("claw-code/version-1.json"), fixture("pi/version-1.jsonl")])(
    "has no effect: %.60s",
    async (content) => {
      await using engine = await open(":memory:");
      const first = await importText(engine, content, { path: "/sessions/a" });
      const before = await engine.listChanges({ limit: 500 });
      const again = await importText(engine, content, { path: "/sessions/a" });
      expect(again.result).toMatchObject({
        sessionId: first.handle.id,
        created: false,
        entries: 0,
        skipped: first.result.entries,
      });
      expect(await engine.listChanges({ limit: 500 })).toEqual(before);
    },
  );

  test.each([PI, CLAW])("adds the new lines of a grown file: %.60s", async (content) => {
    await using whole = await open(":memory:");
    await using grown = await open(":memory:");
    const lines = content.trimEnd().split("\n");
    for (let length = 1; length <= lines.length; length++) {
      await importText(grown, `${lines.slice(0, length).join("\n")}\n`);
    }
    const expected = await importText(whole, content);
    const actual = await importText(grown, content);
    const plain = async (handle: SessionHandle) => {
      const { leaf, title, summary, messageCount } = await handle.meta();
      const entries = await tree(handle);
      const view = entries.map(({ id, kind, blocks }) => [id, kind, textOf(blocks)]);
      return { leaf, title, summary, messageCount, entries: view.sort() };
    };
    expect(await plain(actual.handle)).toEqual(await plain(expected.handle));
  });

  test("finds new entries also after messages that were appended here", async () => {
    await using engine = await open(":memory:");
    await engine.importSession(talk(["a", "b"]));
    const handle = await engine.getSession(
      (await engine.findSessionByOrigin("test:talk"))?.id ?? "",
    );
    await handle.append({ role: "user", content: "ours" });
    const result = await engine.importSession(talk(["a", "b", "c"]));
    expect(result).toMatchObject({ entries: 1, skipped: 2 });
    // The file continues from its own last entry; messages appended here stay on their branch.
    expect(await said(handle)).toEqual(["a", "b", "c"]);
    await engine.importSession(talk(["a", "b", "c", "d"]));
    expect(await said(handle)).toEqual(["a", "b", "c", "d"]);
  });

  test("adds the compaction of a file that was first read without it", async () => {
    await using engine = await open(":memory:");
    const [meta = {}] = jsonLines(CLAW);
    const message = (text: string, role = "user") => ({
      type: "message",
      message: { role, blocks: [{ type: "text", text }] },
    });
    const file = (...records: object[]) =>
      records.map((record) => `${JSON.stringify(record)}\n`).join("");
    const before = ["one", "two", "three", "four"].map((text) => message(text));
    await importText(engine, file(meta, ...before));
    const record = { type: "compaction", count: 1, removed_message_count: 2, summary: "1, 2" };
    const after = [message("Continued: 1, 2", "system"), ...before.slice(2), message("five")];
    const { handle, result } = await importText(engine, file(meta, record, ...after));
    expect(result).toMatchObject({ entries: 2, skipped: 2, created: false });
    expect(await said(handle)).toEqual(["one", "two", "three", "four", "five"]);
    const entries = await tree(handle);
    const compaction = entries.find(({ kind }) => kind === "compaction");
    expect(compaction?.data).toMatchObject({ firstKeptEntryId: entries[2]?.id });
    expect(await handle.meta()).toMatchObject({
      summary: "1, 2",
      summarizedThrough: entries[1]?.id,
    });
  });

  test("stores nothing in a dry run, and counts", async () => {
    await using engine = await open(":memory:");
    const dry = await engine.importSession(talk(["a", "b"]), { dryRun: true });
    expect(dry).toMatchObject({ sessionId: null, created: true, entries: 2, skipped: 0 });
    await engine.importSession(talk(["a", "b"]));
    const again = await engine.importSession(talk(["a", "b", "c"]), { dryRun: true });
    expect(again).toMatchObject({ created: false, entries: 1, skipped: 2 });
    expect((await engine.listSessions()).sessions).toMatchObject([{ messageCount: 2 }]);
  });
});

describe("importing for a reader of files", () => {
  test("continues after an earlier reading, also after messages were appended here", async () => {
    await using engine = await open(":memory:");
    const { last, sessionId } = await engine.importSession(talk(["a", "b"]));
    const handle = await engine.getSession(sessionId ?? "");
    await handle.append({ role: "user", content: "ours" });
    const rest = talk(["a", "b", "c"]);
    for (let i = 0; i < 2; i++) await (rest.entries as AsyncGenerator<ImportedEntry>).next();
    const result = await engine.importSession(rest, { after: last ?? "" });
    expect(result).toMatchObject({ entries: 1, skipped: 0 });
    expect(await said(handle)).toEqual(["a", "b", "c"]);
  });

  test("skips a deleted session if asked to, and else stores it again", async () => {
    await using engine = await open(":memory:");
    const { sessionId } = await engine.importSession(talk(["a"]));
    await engine.deleteSession(sessionId ?? "");
    const skipped = await engine.importSession(talk(["a"]), { skipForgotten: true });
    expect(skipped).toMatchObject({ sessionId: null, created: false, entries: 0, forgotten: true });
    expect((await engine.listSessions()).sessions).toEqual([]);
    const revived = await engine.importSession(talk(["a"]));
    expect(revived).toMatchObject({ created: true, entries: 1, forgotten: false });
    // The tombstone exists, but the new session counts.
    const grown = await engine.importSession(talk(["a", "b"]), { skipForgotten: true });
    expect(grown).toMatchObject({ sessionId: revived.sessionId, entries: 1, forgotten: false });
  });

  test("applies the description once something was stored", async () => {
    await using engine = await open(":memory:");
    let asked = 0;
    const describe = () => ({ title: `asked ${++asked}`, metadata: { titleFrom: "request" } });
    const { sessionId } = await engine.importSession(talk(["a"]), {
      describe,
      metadata: { git: { remote: "x" } },
    });
    await engine.importSession(talk(["a"]), { describe });
    expect(await engine.getSessionMeta(sessionId ?? "")).toMatchObject({
      title: "asked 1",
      metadata: { titleFrom: "request", git: { remote: "x" } },
    });
  });
});

describe("importing under a key", () => {
  test("a grown file keeps a title that was set since", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, PI, { idempotencyKey: "first" });
    await handle.update({ title: "My own title" });
    const grown = `${PI.trimEnd()}\n${NEXT}\n`;
    const { result } = await importText(engine, grown, { idempotencyKey: "second" });
    expect(result).toMatchObject({ entries: 1, skipped: 16 });
    expect((await handle.meta()).title).toBe("My own title");
  });

  test("a file sent again keeps fields that were changed since", async () => {
    await using engine = await open(":memory:");
    const options = { idempotencyKey: "k" };
    const { handle, result } = await importText(engine, PI, options);
    await handle.update({ title: "My own title" });
    const next = await handle.append({ role: "user", content: "and here it goes on" });
    const again = await importText(engine, PI, options);
    expect(again.result).toEqual(result);
    expect(await handle.meta()).toMatchObject({ title: "My own title", leaf: next.id });
    const chosen = () => ({ ...talk(["a", "b", "c"]), leaf: () => "m1" });
    const under = { idempotencyKey: "another" };
    const { sessionId } = await engine.importSession(chosen(), under);
    const other = await engine.getSession(sessionId ?? "");
    expect(await said(other)).toEqual(["a", "b"]);
    await other.append({ role: "user", content: "d" });
    await engine.importSession(chosen(), under);
    expect(await said(other)).toEqual(["a", "b", "d"]);
  });

  test("an interrupted import is completed", async () => {
    await using engine = await open(":memory:");
    const options = { idempotencyKey: "k" };
    const broken = {
      ...talk(["a", "b", "c"]),
      leaf: () => {
        throw new Error("cut off");
      },
    };
    await expect(engine.importSession(broken, options)).rejects.toThrow("cut off");
    const { sessionId } = await engine.importSession(
      { ...talk(["a", "b", "c"]), leaf: () => "m1" },
      options,
    );
    expect(await said(await engine.getSession(sessionId ?? ""))).toEqual(["a", "b"]);
  });

  test("the key may have any valid length", async () => {
    await using engine = await open(":memory:");
    const options = { idempotencyKey: "k".repeat(512) };
    expect(await engine.importSession(talk(["a", "b"]), options)).toMatchObject({ entries: 2 });
    expect((await engine.listSessions()).sessions).toMatchObject([{ messageCount: 2 }]);
  });
});

describe("importing large or unusual sessions", () => {
  test("stores thousands of entries in batches, and skips them by batches", async () => {
    await using engine = await open(":memory:");
    const texts = Array.from({ length: 2_345 }, (_, i) => `message ${i}`);
    expect(await engine.importSession(talk(texts))).toMatchObject({ entries: 2_345 });
    const again = await engine.importSession(talk([...texts, "one more"]));
    expect(again).toMatchObject({ entries: 1, skipped: 2_345 });
    const { sessions } = await engine.listSessions();
    expect(sessions).toMatchObject([{ messageCount: 2_346 }]);
  });

  test("an entry that a reader repeats is stored once, and with other content beside it", async () => {
    await using engine = await open(":memory:");
    const session = () => {
      const given = talk(Array.from({ length: 300 }, (_, i) => `word ${i}`));
      async function* entries(): AsyncGenerator<ImportedEntry> {
        const first: ImportedEntry[] = [];
        for await (const entry of given.entries) {
          if (first.length < 2) first.push(entry);
          yield entry;
        }
        yield* first;
        for (const entry of first.slice(0, 1)) yield { ...entry, sourceId: "last" };
        for (const entry of [...first.slice(1), ...first.slice(1)]) {
          yield { ...entry, blocks: [{ type: "text", text: "other" }] };
        }
      }
      return { ...given, entries: entries() };
    };
    const result = await engine.importSession(session());
    expect(result).toMatchObject({ entries: 302, skipped: 0, problems: 3 });
    const handle = engine.session(result.sessionId ?? "");
    expect((await said(handle)).slice(-2)).toEqual(["word 0", "other"]);
    expect(await engine.importSession(session())).toMatchObject({ entries: 0, skipped: 302 });
  });

  test("two concurrent imports of one session store it once", async () => {
    await using engine = await open(":memory:");
    const texts = Array.from({ length: 1_500 }, (_, i) => `message ${i}`);
    const results = await Promise.all([1, 2, 3].map(() => engine.importSession(talk(texts))));
    expect(results.reduce((sum, { entries }) => sum + entries, 0)).toBe(1_500);
    expect((await engine.listSessions()).sessions).toMatchObject([{ messageCount: 1_500 }]);
  });

  test("behaves the same on PostgreSQL, also concurrently", async () => {
    await using engine = await open(await createDatabase());
    for (let round = 1; round <= 5; round++) {
      const tenant = engine.forTenant(`round-${round}`);
      const results = await Promise.all([1, 2, 3].map(() => importText(tenant, PI)));
      expect(results.reduce((sum, { result }) => sum + result.entries, 0)).toBe(16);
      expect(results.filter(({ result }) => result.created)).toHaveLength(1);
      const notes = PI.replace("Cron runs twice", "x").replace('"00000017"', '"00000018"');
      const again = await Promise.all([1, 2, 3].map(() => importText(tenant, notes)));
      expect(again.reduce((sum, { result }) => sum + result.entries, 0)).toBe(1);
    }
    await importText(engine, PI);
    const again = await importText(engine, PI);
    expect(again.result).toMatchObject({ entries: 0, skipped: 16 });
    const { handle } = await importText(engine, CLAW);
    expect(await handle.meta()).toMatchObject({ summary: expect.stringContaining("Scope") });
  });

  test("shortens an oversized entry, and reports it", async () => {
    await using engine = await open(":memory:");
    const session = talk(["x".repeat(9_000_000), "small"]);
    const result = await engine.importSession(session);
    expect(result).toMatchObject({ entries: 2, problems: 1 });
    expect(session.problems.first).toMatchObject([{ code: "entry_cut" }]);
    const handle = await engine.getSession(result.sessionId ?? "");
    const [long = ""] = await said(handle);
    expect(long.length).toBeLessThan(1_100_000);
    expect(long).toMatch(/\[cut: \d+ more characters\]$/);
  });

  test.each([true, false])(
    "an import that the store rejects fails alone (inThread: %s)",
    async (inThread) => {
      const path = join(createFolder(), "store.db");
      await using engine = await open(path, { inThread });
      const session = await engine.createSession({ agent: "test", createdBy: "test" });
      await session.append({ role: "user", content: "before" });
      const db = new DatabaseSync(path);
      db.exec("PRAGMA foreign_keys = OFF; DROP TABLE blobs");
      db.close();
      await expect(engine.importSession(talk(["long ".repeat(50_000)]))).rejects.toThrow("blobs");
      await session.append({ role: "user", content: "after" });
      await engine.createSession({ id: "next", agent: "test", createdBy: "test" });
    },
  );

  test("keeps foreign fields that exceed metadata", async () => {
    await using engine = await open(":memory:");
    const fields = { message: { details: "d".repeat(100_000) } };
    const metadata = { source: { format: "pi", id: "x", fields } };
    const result = await engine.importSession(talk(["a"], { metadata }));
    const [entry] = await tree(await engine.getSession(result.sessionId ?? ""));
    expect(entry?.metadata).toEqual({ source: { format: "pi", id: "x" } });
    expect(entry?.data).toEqual({ source: fields });
  });

  test("turns invalid names into valid ones", async () => {
    await using engine = await open(":memory:");
    const over = { actor: `\ud800${"é".repeat(600)}`, model: "a\u0000b" };
    const result = await engine.importSession(talk(["a"], over));
    const [entry] = await tree(await engine.getSession(result.sessionId ?? ""));
    expect(entry?.model).toBe("a\uFFFDb");
    expect(Buffer.byteLength(entry?.actor ?? "")).toBeLessThanOrEqual(512);
  });
});
