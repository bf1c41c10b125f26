import { rmSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import { projectId } from "../ingest/identity/identity.ts";
import { MAX_MEMORY_BYTES } from "../model/limits.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";
import { splitNote } from "./ingest-notes.ts";
import { watchPlaces } from "./watch.ts";

const SOURCES = { sources: [CLAUDE_CODE] };
const FOLDER = ".claude/projects/-srv-my-shop";
const TRANSCRIPT = `${JSON.stringify({
  type: "user",
  uuid: "u",
  parentUuid: null,
  sessionId: "s",
  cwd: "/srv/my.shop",
  message: { role: "user", content: "Why?" },
})}\n`;

test("an agent's notes become memories of their project, and follow their files", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put(`${FOLDER}/s.jsonl`, TRANSCRIPT);
  const index = machine.put(`${FOLDER}/memory/MEMORY.md`, "# Shop\nThe lock is in cron.lock.\n");
  const other = machine.put(`${FOLDER}/memory/topics/tests.md`, "Tests need PostgreSQL.");
  machine.put(`${FOLDER}/memory/image.png`, "no note");
  machine.put(`${FOLDER}/README.md`, "no note");
  expect((await machine.run(engine, SOURCES)).notes).toMatchObject({ written: 2, removed: 0 });
  const project = projectId("/srv/my.shop");
  const [memory, ...more] = await engine.listMemories();
  expect(more).toHaveLength(1);
  expect(memory).toMatchObject({
    agent: "claude-code",
    name: `w1:${project}:memory/MEMORY.md`,
    content: "# Shop\nThe lock is in cron.lock.",
    metadata: { projectId: project, projectPath: "/srv/my.shop", project: "-srv-my-shop" },
  });
  expect(await engine.searchMemory("cron.lock")).toHaveLength(1);
  expect((await machine.run(engine, SOURCES)).notes).toMatchObject({ written: 0, removed: 0 });

  machine.put(`${FOLDER}/memory/MEMORY.md`, "The lock is in run.lock.");
  utimesSync(index, 9, 9);
  rmSync(other);
  await engine.putMemory({ agent: "claude-code", name: "mine", content: "stays" });
  expect((await machine.run(engine, SOURCES)).notes).toMatchObject({ written: 1, removed: 1 });
  const names = (await engine.listMemories()).map(({ content }) => content);
  expect(names.sort()).toEqual(["The lock is in run.lock.", "stays"]);
});

test("a long note becomes several memories without loss", async () => {
  const long = Array.from({ length: 900 }, (_, i) => `Line ${i} of a note, with an é.`).join("\n");
  const pieces = splitNote(long);
  expect(pieces.every((piece) => Buffer.byteLength(piece) <= MAX_MEMORY_BYTES)).toBe(true);
  expect(pieces.join("\n")).toBe(long);
  await using engine = await open(":memory:");
  const machine = createMachine();
  const file = machine.put(`${FOLDER}/memory/long.md`, long);
  const { notes } = await machine.run(engine, SOURCES);
  expect(notes.written).toBe(pieces.length);
  machine.put(`${FOLDER}/memory/long.md`, "short");
  utimesSync(file, 9, 9);
  machine.put(`${FOLDER}/memory/huge.md`, "x".repeat(300_000));
  expect((await machine.run(engine, SOURCES)).notes).toEqual({
    written: 1,
    removed: pieces.length - 1,
    tooLong: 1,
  });
});

test("a watcher stores a note as it is written", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put(`${FOLDER}/s.jsonl`, TRANSCRIPT);
  machine.put(`${FOLDER}/memory/MEMORY.md`, "one");
  const end = new AbortController();
  const watching = watchPlaces(engine, {
    environment: { home: machine.home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" },
    ...SOURCES,
    signal: end.signal,
  });
  const contents = async () => (await engine.listMemories()).map(({ content }) => content);
  await expect.poll(contents, { interval: 20 }).toEqual(["one"]);
  machine.put(`${FOLDER}/memory/MEMORY.md`, "another");
  await expect.poll(contents, { interval: 20 }).toEqual(["another"]);
  end.abort();
  await watching;
});
