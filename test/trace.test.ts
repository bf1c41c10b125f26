/** `traceWork` is complete: compared with a plain scan of every stored entry. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineApi } from "../src/engine/interfaces.ts";
import { open } from "../src/index.ts";
import { traceNotes } from "../src/recap/show-work.ts";
import { type Trace, type TraceInput, traceWork } from "../src/work.ts";
import { createFolder } from "./support/folder.ts";
import { SEED } from "./support/random.ts";
import { isStress, repeats } from "./support/repeats.ts";
import {
  fillArchive,
  readAll,
  type StoredSession,
  scan,
  textsOf,
} from "./support/trace-archive.ts";
import { WORLDS, type World } from "./support/worlds.ts";

const SESSIONS = 20;
const FIXED = [
  "File has not been read yet",
  "the",
  "git",
  "%!",
  "::",
  "...",
  "1,000",
  "错误",
  "./...",
];
/** For indexes that differ in how they were built: a sentence, a common word, and no word at all. */
const FEW = isStress ? FIXED : ["File has not been read yet", "the", "::"];

async function compare(engine: EngineApi, stored: readonly StoredSession[], text: string) {
  for (const kind of ["command", "error"] as const) {
    const input: TraceInput = { [kind]: text, limit: 4 };
    const found = await traceWork(engine, input);
    const { sessions, withinWords } = scan(stored, kind, text);
    expect(
      {
        shown: found.sessions.map(({ session }) => session.id),
        count: found.sessions.length + found.more,
        withinWords: found.withinWords,
        unread: found.unread,
      },
      JSON.stringify({ kind, text }),
    ).toEqual({ shown: sessions.slice(0, 4), count: sessions.length, withinWords, unread: 0 });
  }
}

describe.each(WORLDS)("a trace on %s", (_, openWorld) => {
  let world: World;
  let stored: readonly StoredSession[];

  beforeAll(async () => {
    world = await openWorld();
    await fillArchive(world.engine, SESSIONS, SEED);
    stored = await readAll(world.engine);
  });
  afterAll(() => world.close());

  test("has every session that a scan of all entries has, in the same order", async () => {
    const texts = [...FIXED, ...textsOf(stored, repeats(6, 1_000), SEED)];
    const found = texts.map((text) => scan(stored, "error", text).sessions.length);
    // Not vacuous: most texts are somewhere, and some in many sessions.
    expect([Math.max(...found) > 5, found.filter((count) => count > 0).length > 8]).toEqual([
      true,
      true,
    ]);
    for (const text of texts) await compare(world.engine, stored, text);
  });

  test("has the same sessions after the index is merged, and on every run", async () => {
    await world.engine.maintainIndex("flush");
    await world.engine.maintainIndex("merge");
    for (const text of FEW) await compare(world.engine, stored, text);
    const trace = () => traceWork(world.engine, { error: "the", limit: 20 });
    expect(await trace()).toEqual(await trace());
  });
});

test("a trace is complete with an index of another setting, and without one", async () => {
  const path = join(createFolder(), "store.db");
  {
    await using engine = await open(path, { inThread: true, indexing: { tools: "names" } });
    await fillArchive(engine, 12, SEED);
    await engine.maintainIndex("flush");
    const stored = await readAll(engine);
    for (const text of FEW) await compare(engine, stored, text);
    // The segments have no tool inputs and outputs until they are rebuilt.
    await engine.setIndexing({ tools: "all" });
    for (const text of FEW) await compare(engine, stored, text);
    await engine.maintainIndex("maintain");
    for (const text of FEW) await compare(engine, stored, text);
  }
  rmSync(`${path}-index`);
  await using engine = await open(path, { inThread: true, readOnly: true });
  const stored = await readAll(engine);
  for (const text of FEW) await compare(engine, stored, text);
});

test("what a trace leaves unread is counted, and none is not said to be complete", async () => {
  await using engine = await open(":memory:", { inThread: true });
  for (let i = 0; i < 3; i++) {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const toolCalls = [{ id: "1", name: "Bash", input: JSON.stringify({ command: `make ${i}` }) }];
    await session.append({ role: "assistant", toolCalls });
  }
  const options = { maxMessages: 1 };
  expect(await traceWork(engine, { command: "make" }, options)).toMatchObject({
    unread: 2,
    more: 0,
  });
  const none = await traceWork(engine, { command: "make 0" }, options);
  expect(none).toMatchObject({ sessions: [], unread: 2 });
  expect(await traceWork(engine, { command: "make", limit: 1 })).toMatchObject({
    unread: 0,
    more: 2,
  });
});

test("a command that was stored as a list of words is found, quoted words too", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const input = JSON.stringify({ command: ["git", "commit", "-m", "a new day"] });
  await session.append({ role: "assistant", toolCalls: [{ id: "1", name: "shell", input }] });
  await engine.maintainIndex("flush");
  for (const command of ["git commit -m", "commit -m 'a new day'", "git commit"]) {
    const found = await traceWork(engine, { command });
    expect([command, found.sessions.length]).toEqual([command, 1]);
  }
  const none = await traceWork(engine, { command: "commit git" });
  expect([none.sessions, none.unread]).toEqual([[], 0]);
});

test("a note says how many more sessions there are, and never none if some were not read", () => {
  const words = { search: "search", limit: "--limit", narrow: "--project" };
  const notes = (found: Partial<Trace>) => traceNotes({ ...NOTHING, ...found }, words);
  expect(notes({})).toEqual([
    "No session has this command. Try a shorter part of it; search also finds mentions.",
  ]);
  expect(notes({ more: 1 }).at(-1)).toBe("1 session more has it: --limit.");
  expect(notes({ more: 1_200 }).at(-1)).toBe("1,200 sessions more have it: --limit.");
  expect(notes({ unread: 1 })).toEqual([
    "No session that was read has this command, but 1 session may have it and was not read: narrow it with --project.",
  ]);
});
const NOTHING: Trace = {
  subject: { kind: "command", text: "make" },
  sessions: [],
  withinWords: false,
  more: 0,
  unread: 0,
};
