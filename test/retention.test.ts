/** Erased text is in no file, table or later backup, also if a process was killed while erasing. */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backup, type Engine, open, restore, type SessionHandle, textOf } from "../src/index.ts";
import { DERIVED_TABLES, INDEX_TABLES, TABLES } from "../src/store/tables.ts";
import { Child } from "./support/child.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase, query } from "./support/postgres.ts";
import type { RetentionTask } from "./support/retention-writer.ts";

const newFile = () => Promise.resolve(join(createFolder(), "store.db"));

const BACKENDS: readonly [string, () => Promise<string>, () => Promise<string>][] = [
  ["SQLite", newFile, createDatabase],
  ["PostgreSQL", createDatabase, newFile],
];
const MODES = ["audit-only", "ephemeral"] as const;

/** Unique words that stemming leaves unchanged. */
const FORGOTTEN = {
  message: "quokkab",
  head: "wombatf",
  label: "numbatk",
  custom: "dingok",
  half: "bilbyk",
  fact: "kowarik",
  replaced: "possumk",
  tool: "bettongk",
  edited: "echidnak",
};
/** Fields that `audit-only` keeps and a tombstone does not. */
const AUDITED = { metadata: "thylacink", model: "potorook", usage: "" };
const KEPT = { summary: "wallabyk", pinned: "koalabk", later: "dunnartk", title: "quollk" };

/** A session in which each of these words was indexed in a segment, and then summarised. */
async function fillAndErase(engine: Engine, retention: (typeof MODES)[number]): Promise<void> {
  const session = await engine.createSession({
    id: "s",
    agent: "coder",
    createdBy: "ana",
    retention,
    title: `The ${KEPT.title}`,
  });
  const pinned = await session.append({ role: "user", actor: "ana", content: KEPT.pinned });
  await session.pin(pinned.id);
  const first = await session.append({
    role: "user",
    actor: "ana",
    content: `The ${FORGOTTEN.message} ran.`,
    metadata: { note: AUDITED.metadata },
  });
  await session.append({
    role: "assistant",
    model: AUDITED.model,
    usage: { inputTokens: 3, outputTokens: 4 },
    content: [
      { type: "text", text: `${FORGOTTEN.head} ${"filler ".repeat(2_000)}` },
      { type: "tool_use", id: "t1", name: "bash", input: `{"command":"${FORGOTTEN.tool}"}` },
    ],
  });
  await session.append({
    role: "tool",
    content: [{ type: "tool_result", toolUseId: "t1", output: "done" }],
  });
  await session.label(first.id, FORGOTTEN.label);
  await session.appendCustom("editor", { word: FORGOTTEN.custom });
  const stream = await session.openMessage({ role: "assistant" });
  await stream.write(`Half a ${FORGOTTEN.half}`);
  await stream.abort();
  const wrong = await session.append({ role: "user", content: `The ${FORGOTTEN.edited}` });
  await session.edit(wrong.id, "the right one");
  const source = { predicate: "is", object: "small", sourceEntry: first.id };
  const [old] = await session.addFacts([{ subject: FORGOTTEN.replaced, ...source }]);
  const [fact] = await session.addFacts([{ subject: FORGOTTEN.fact, ...source }]);
  await engine.supersedeFact(old?.id ?? "", fact?.id ?? "");
  await session.append({ role: "user", actor: "ana", content: KEPT.later });
  await engine.maintainIndex("flush");
  const summary = `They spoke of a ${KEPT.summary}.`;
  await session.compact({ keep: { messages: 1 }, before: () => ({ summary }) });
}

/** The bytes of all files or tables of a store, as Latin-1 text. */
async function bytesOf(address: string): Promise<string> {
  if (address.startsWith("postgres:")) {
    const tables = [...TABLES, ...INDEX_TABLES, ...DERIVED_TABLES];
    const all = await Promise.all(tables.map((table) => query(address, `SELECT * FROM ${table}`)));
    const values = all.flat().flatMap((row) => Object.values(row));
    return values
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value))
      .join("\n")
      .toLowerCase();
  }
  return ["", "-wal", "-index", "-index-wal"]
    .map((suffix) => `${address}${suffix}`)
    .filter((file) => statSync(file, { throwIfNoEntry: false }) !== undefined)
    .map((file) => readFileSync(file, "latin1").toLowerCase())
    .join("\n");
}

async function heldOf(address: string, words: Record<string, string>): Promise<string[]> {
  const bytes = await bytesOf(address);
  return Object.values(words).filter((word) => word !== "" && bytes.includes(word));
}

async function purge(address: string): Promise<void> {
  const ran = await callCli(["doctor", "--purge", "--verify", "--db", address]);
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
}

describe.each(BACKENDS)("on %s", (_name, newAddress, otherAddress) => {
  test.each(MODES)(
    "%s: a purge leaves no erased word, and keeps the summary",
    async (retention) => {
      const address = await newAddress();
      const engine = await open(address, { inThread: true, indexing: { flushAt: 0 } });
      await fillAndErase(engine, retention);
      await engine.close();
      // Guards the test itself: before the purge, the index and the log still have most of them.
      expect((await heldOf(address, FORGOTTEN)).length).toBeGreaterThan(0);
      await purge(address);
      expect(await heldOf(address, FORGOTTEN)).toEqual([]);
      expect(await heldOf(address, AUDITED)).toEqual(
        retention === "audit-only" ? [AUDITED.metadata, AUDITED.model] : [],
      );
      expect(await heldOf(address, KEPT)).toEqual(Object.values(KEPT));
      const run = async (...args: string[]) => (await callCli([...args, "--db", address])).stdout;
      expect(await run("show", "s")).toMatch(/^#1 {2}user.*\[erased\]$/m);
      expect(await run("history", "s")).toContain(KEPT.later);
      const lines = (await run("export", "--all")).trim().split("\n");
      const exported = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(exported.filter((line) => line["erased"] === true)).toHaveLength(8);
      await using after = await open(address, { readOnly: true, inThread: true });
      for (const word of Object.values(FORGOTTEN)) {
        expect((await after.searchSessions(word, { branches: "all" })).hits, word).toEqual([]);
      }
      expect((await after.searchSessions(KEPT.summary)).hits).toHaveLength(1);
      expect((await after.searchSessions(KEPT.pinned)).hits[0]?.entryId).not.toBeNull();
    },
  );

  test.each(MODES)("%s: backups hold no erased word, and verify", async (retention) => {
    const address = await newAddress();
    await using engine = await open(address, { inThread: true });
    await fillAndErase(engine, retention);
    const shown = await saidIn(await engine.getSession("s"));
    expect(shown.filter((text) => text === "[erased]")).toHaveLength(6);

    const [file, moved] = [await newFile(), await otherAddress()];
    await backup(address, file);
    await restore(file, moved);
    for (const copy of [file, moved]) {
      expect(await heldOf(copy, FORGOTTEN)).toEqual([]);
      await using restored = await open(copy, { inThread: true });
      const session = await restored.getSession("s");
      expect(await saidIn(session)).toEqual(shown);
      expect(await restored.verify()).toMatchObject({ ok: true });
      expect(await session.applyRetention()).toEqual({ erased: 0 });
      const fork = await session.fork({ createdBy: "ben" });
      await fork.append({ role: "user", content: "and on" });
      expect((await restored.searchSessions("and on")).hits).not.toEqual([]);
      expect(await restored.verify()).toMatchObject({ ok: true });
    }
  });

  test("a sweep completes the erasure of a process killed after its compaction", async () => {
    const address = await newAddress();
    await using engine = await open(address, { inThread: true, indexing: { flushAt: 0 } });
    // One is killed right after the compaction, one during the erasure.
    for (const [retention, batches] of [
      ["audit-only", 0],
      ["ephemeral", 1],
    ] as const) {
      const session = await engine.createSession({ agent: "a", createdBy: "b", retention });
      const content = "secret";
      const messages = Array.from({ length: 1_000 }, () => ({ role: "user" as const, content }));
      await session.append(messages);
      const child = new Child("./retention-writer.ts");
      child.tell({ address, sessionId: session.id, batches } satisfies RetentionTask);
      await child.until(1);
      expect(await child.kill()).toMatchObject({ signal: "SIGKILL" });
      expect(child.errors).toBe("");

      expect((await session.meta()).summary).not.toBeNull();
      const erased = await countErased(session);
      expect(erased > 0).toBe(batches > 0);
      expect(erased).toBeLessThan(999);
      expect(await engine.sweep()).toMatchObject({ erasedEntries: 999 - erased });
      expect(await countErased(session)).toBe(999);
      const scope = { session: session.id, perSession: 10 };
      expect((await engine.searchSessions("secret", scope)).hits).toHaveLength(1);
    }
    expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
  });
});

/** Texts of the messages on the active path, and of aborted ones. */
async function saidIn(session: SessionHandle): Promise<string[]> {
  const { entries } = await session.listEntries({ tree: true, limit: 100 });
  return entries
    .filter(({ kind }) => kind === "message")
    .map(({ blocks, erased }) => (erased ? "[erased]" : textOf(blocks)));
}

async function countErased(session: SessionHandle): Promise<number> {
  let erased = 0;
  for (let offset = 0; ; offset += 500) {
    const { messages } = await session.listMessages({ offset, limit: 500 });
    erased += messages.filter((message) => message.erased).length;
    if (messages.length < 500) return erased;
  }
}
