import { appendFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fixture } from "../../test/support/transcripts.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import { noCounts } from "../ingest/files/walk.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine, NOTES, notes } from "./archive.cases.ts";
import { ingestFiles } from "./ingest-files.ts";
import { createSetting } from "./ingest-setting.ts";

const UUID = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";

async function said(tenant: TenantEngine, key: string): Promise<string[]> {
  const session = await tenant.findSessionByOrigin(key);
  if (session === undefined) return [];
  const { messages } = await tenant.listMessages(session.id, { limit: 500 });
  return messages.map(({ blocks }) => textOf(blocks));
}

const KEY = "w1:e7c7ea0b:s1";

describe("ingesting", () => {
  test("stores the transcripts in the agents' places, once", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put("notes/a.jsonl", notes("Fix the cron job", { text: "Done.", role: "assistant" }));
    machine.put("pi/x/b.jsonl", fixture("pi/version-3.jsonl"));
    const first = await machine.run(engine);
    expect(first.totals).toMatchObject({
      created: 2,
      grown: 0,
      entries: 18,
      found: 2,
      files: { read: 2, unchanged: 0 },
      sources: new Map([
        ["notes", { files: 1, created: 1, entries: 2 }],
        ["pi", { files: 1, created: 1, entries: 16 }],
      ]),
    });
    const before = await engine.listChanges({ limit: 500 });
    const again = await machine.run(engine);
    expect(again.totals).toMatchObject({ created: 0, entries: 0, files: { unchanged: 2 } });
    const forced = await machine.run(engine, { force: true });
    expect(forced.totals).toMatchObject({ created: 0, entries: 0, files: { read: 2 } });
    expect(await engine.listChanges({ limit: 500 })).toEqual(before);
  });

  test("identifies a session by workstation, project and id, and has its fields", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const tool = { text: "I look.", role: "assistant", tool: "bash" };
    const again = { ...tool, text: "I look again." };
    const file = machine.put("notes/a.jsonl", notes("Fix the\ncron job", tool, again, "Thanks"));
    await machine.run(engine);
    const session = await engine.findSessionByOrigin(KEY);
    expect(session).toMatchObject({
      title: "Fix the cron job",
      metadata: { titleFrom: "request" },
      agent: "notes",
      origin: {
        source: "notes",
        workstation: "w1",
        projectId: "e7c7ea0b",
        file,
        projectPath: "/srv/shop",
      },
      figures: {
        exchangeCount: 2,
        toolCounts: { bash: 2 },
        firstMessageAt: 1001,
        lastMessageAt: 1004,
        fileMtime: Math.floor(statSync(file).mtimeMs),
      },
    });
  });

  test("INV-004: only size and time detect a change", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one"));
    const time = new Date("2026-05-04T10:00:00.123Z");
    utimesSync(file, time, time);
    await machine.run(engine);
    writeFileSync(file, notes("two"));
    utimesSync(file, time, time);
    expect((await machine.run(engine)).totals.files.unchanged).toBe(1);
    expect(await said(engine, KEY)).toEqual(["one"]);
    // Forced, it is read in any case.
    await machine.run(engine, { force: true });
    expect(await said(engine, KEY)).toEqual(["one", "two"]);
  });

  test("counts in a dry run and stores nothing", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put("notes/a.jsonl", notes("one", "two"));
    const { totals } = await machine.run(engine, { dryRun: true });
    expect(totals).toMatchObject({ created: 1, entries: 2 });
    expect((await engine.listSessions()).sessions).toEqual([]);
    expect((await machine.run(engine)).totals.created).toBe(1);
  });

  test("reads named files and folders, and reports missing ones", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const one = machine.put("else/one.jsonl", notes({ text: "a", session: "one" }));
    machine.put("folder/deep/two.jsonl.gz", gzipSync(notes({ text: "b", session: "two" })));
    machine.put("folder/package.json", "{}");
    machine.put("folder/node_modules/three.jsonl", notes("c"));
    const paths = [one, join(machine.home, "folder"), join(machine.home, "nowhere")];
    const report = await machine.run(engine, { paths });
    expect(report.totals).toMatchObject({ created: 2, files: { read: 2, unrecognised: 1 } });
    expect(report.missing).toMatchObject([{ path: join(machine.home, "nowhere") }]);
    // A file of no known format is not opened again, and is reported again.
    const { files, unrecognised } = (await machine.run(engine, { paths })).totals;
    expect(files).toMatchObject({ unchanged: 2, unrecognised: 1 });
    expect(unrecognised).toEqual([join(machine.home, "folder/package.json")]);
  });

  test("reads only one format on request, and a named file as that format", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put("notes/a.jsonl", notes("one"));
    machine.put("pi/b.jsonl", fixture("pi/version-3.jsonl"));
    expect((await machine.run(engine, { source: "notes" })).totals.found).toBe(1);
    const odd = machine.put("odd.jsonl", ` ${notes({ text: "one", session: "odd" })}`);
    expect((await machine.run(engine, { paths: [odd] })).totals.files.unrecognised).toBe(1);
    const { outcomes } = await machine.run(engine, { source: "notes", paths: [odd], force: true });
    expect(outcomes).toMatchObject([{ how: "read", source: "notes", sessions: [{ entries: 1 }] }]);
    await expect(machine.run(engine, { source: "word" })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "source" },
    });
  });
});

describe("a file that changes", () => {
  test("is resumed where the last reading ended, if it grew", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one", "two"));
    await machine.run(engine);
    appendFileSync(file, notes("-", "three").split("\n").slice(1).join("\n"));
    const { outcomes } = await machine.run(engine);
    expect(outcomes).toMatchObject([{ how: "continued", sessions: [{ entries: 1, skipped: 0 }] }]);
    expect(outcomes[0]?.bytes).toBeLessThan(50);
    expect(await said(engine, KEY)).toEqual(["one", "two", "three"]);
    expect((await engine.findSessionByOrigin(KEY))?.figures?.exchangeCount).toBe(3);
  });

  test.each([
    ["rewritten and longer", notes("four", "five", "six")],
    ["truncated", notes("one")],
  ])("is read whole if it was %s, and stored entries stay", async (_name, content) => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one", "two"));
    await machine.run(engine);
    writeFileSync(file, content);
    const { outcomes } = await machine.run(engine);
    expect(outcomes).toMatchObject([{ how: "read" }]);
    expect((await said(engine, KEY)).slice(0, 2)).toEqual(["one", "two"]);
  });

  test("a torn last line is read once it is complete", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const all = notes("one", "two");
    const file = machine.put("notes/a.jsonl", all.slice(0, -10));
    const { totals } = await machine.run(engine);
    expect(Object.fromEntries(totals.problems)).toEqual({ torn_line: 1 });
    expect(await said(engine, KEY)).toEqual(["one"]);
    writeFileSync(file, all);
    expect((await machine.run(engine)).outcomes).toMatchObject([
      { how: "continued", sessions: [{ entries: 1 }], problems: [] },
    ]);
    expect(await said(engine, KEY)).toEqual(["one", "two"]);
  });

  test("a last line without a line break is read once", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one", "two").trimEnd());
    await machine.run(engine);
    expect(await said(engine, KEY)).toEqual(["one", "two"]);
    appendFileSync(file, `\n${notes("-", "three").split("\n")[1]}\n`);
    expect((await machine.run(engine)).outcomes).toMatchObject([
      { how: "read", sessions: [{ entries: 1, skipped: 2 }] },
    ]);
    expect((await engine.findSessionByOrigin(KEY))?.figures?.exchangeCount).toBe(3);
  });

  test("that was deleted keeps its session", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    rmSync(machine.put("notes/b.jsonl", ""));
    const file = machine.put("notes/a.jsonl", notes("one"));
    await machine.run(engine);
    rmSync(file);
    expect((await machine.run(engine)).totals.found).toBe(0);
    expect(await said(engine, KEY)).toEqual(["one"]);
  });
});

describe("a session that was forgotten", () => {
  test("is not stored again, unless a forced run names its file", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one"));
    await machine.run(engine);
    await engine.deleteSession((await engine.findSessionByOrigin(KEY))?.id ?? "");
    appendFileSync(file, notes("-", "two").split("\n").slice(1).join("\n"));
    expect((await machine.run(engine)).totals).toMatchObject({ forgotten: 1, entries: 0 });
    expect((await machine.run(engine, { force: true })).totals.forgotten).toBe(1);
    expect((await machine.run(engine, { paths: [file] })).totals.entries).toBe(0);
    const { totals } = await machine.run(engine, { paths: [file], force: true });
    expect(totals).toMatchObject({ created: 1, entries: 2, forgotten: 0 });
  });
});

describe("the edge cases of the first indexers of such files", () => {
  test("an empty file, or one without a message, is no session until its first message", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const sources = { sources: [CLAUDE_CODE] };
    const place = `.claude/projects/p/${UUID}.jsonl`;
    const file = machine.put(place, "");
    expect((await machine.run(engine, sources)).totals).toMatchObject({
      created: 0,
      files: { empty: 1 },
    });
    const base = { sessionId: UUID, cwd: "/srv/shop", timestamp: "2026-05-04T10:00:00.000Z" };
    const note = { ...base, type: "system", uuid: "n", parentUuid: null, subtype: "hook" };
    appendFileSync(
      file,
      `${JSON.stringify({ type: "summary", summary: "Cron", leafUuid: "x" })}\n`,
    );
    appendFileSync(file, `${JSON.stringify(note)}\n`);
    expect((await machine.run(engine, sources)).totals).toMatchObject({ created: 0, entries: 0 });
    expect((await engine.listSessions()).sessions).toEqual([]);
    expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
    const message = { role: "user", content: "Why?" };
    const said = { ...base, type: "user", uuid: "u", parentUuid: "n", message };
    appendFileSync(file, `${JSON.stringify(said)}\n`);
    // The lines before the message are read again, and stored with it.
    expect((await machine.run(engine, sources)).totals).toMatchObject({ created: 1, entries: 3 });
    const { sessions } = await engine.listSessions();
    expect(sessions).toMatchObject([
      { messageCount: 1, createdAt: Date.UTC(2026, 4, 4, 10), figures: { exchangeCount: 1 } },
    ]);
  });

  test("a malformed JSON line: skipped with a warning, and later lines are read", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put(
      "notes/a.jsonl",
      `${notes("one")}{"note": broken\n${notes("-", "two").split("\n")[1]}\n`,
    );
    const { outcomes } = await machine.run(engine);
    expect(outcomes[0]?.problems).toMatchObject([{ line: 2, code: "not_json" }]);
    expect(await said(engine, KEY)).toEqual(["one", "two"]);
  });

  test("a missing session id: the UUID in the file's name", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put(`notes/2026-05-04_${UUID}.jsonl`, notes({ text: "one", session: null }));
    await machine.run(engine);
    expect(await said(engine, `w1:e7c7ea0b:${UUID}`)).toEqual(["one"]);
  });

  test("a missing cwd: no project path, and the project of SHA-256 of nothing", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put("notes/a.jsonl", notes({ text: "one", cwd: null }));
    await machine.run(engine);
    const session = await engine.findSessionByOrigin("w1:e3b0c442:s1");
    expect(session?.origin).toMatchObject({ projectId: "e3b0c442" });
    expect(session?.origin.projectPath).toBeUndefined();
  });

  test("a file deleted between scan and read: reported, and the others are read", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const environment = { home: machine.home, variables: {}, platform: "linux" };
    const setting = await createSetting(engine, { environment, sources: [NOTES] });
    const facts = { root: machine.home, size: 10, mtimeUs: 1, allocated: 10 };
    const there = { ...facts, path: machine.put("a.jsonl", notes("one")) };
    const gone = { ...facts, path: join(machine.home, "gone.jsonl") };
    const totals = await ingestFiles(
      setting,
      (async function* () {
        yield [gone, there].map((file) => ({ file, hint: undefined, named: false }));
      })(),
    );
    expect(totals.files).toMatchObject({ vanished: 1, read: 1 });
  });

  test("the same session from two workstations: two sessions", async () => {
    await using engine = await open(":memory:");
    for (const workstation of ["w1", "w2"]) {
      const machine = createMachine(workstation);
      machine.put("notes/a.jsonl", notes("one"));
      expect((await machine.run(engine)).totals.created).toBe(1);
    }
    const { sessions } = await engine.listSessions();
    expect(sessions.map(({ origin }) => origin.workstation).sort()).toEqual(["w1", "w2"]);
  });

  test("an unchanged mtime: not read again, whatever its content", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put("notes/a.jsonl", notes("one"));
    const time = new Date("2026-05-04T10:00:00.123Z");
    utimesSync(file, time, time);
    await machine.run(engine);
    writeFileSync(file, notes("two"));
    utimesSync(file, time, time);
    expect((await machine.run(engine)).totals.files.unchanged).toBe(1);
  });

  test("a missing folder (SESSIONS_DIR): nothing found, and no error", async () => {
    await using engine = await open(":memory:");
    const { home, run } = createMachine();
    const variables = { WORKSTATION_ID: "w1", SESSIONS_DIR: join(home, "nowhere") };
    const report = await run(engine, { environment: { home, variables, platform: "linux" } });
    expect(report.totals.found).toBe(0);
    expect(report.skipped).toEqual(noCounts());
  });
});
