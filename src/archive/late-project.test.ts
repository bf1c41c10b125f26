import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { compositeKey, projectId } from "../ingest/identity/identity.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const ID = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const sources = { sources: SOURCES };
const forced = { ...sources, force: true };

/** The only session; fails if there are several. */
async function only(tenant: TenantEngine) {
  const { sessions } = await tenant.listSessions();
  expect(sessions).toHaveLength(1);
  const [session] = sessions;
  const { messages } = await tenant.listMessages(session?.id ?? "", { limit: 50 });
  const { key, projectPath = null } = session?.origin ?? {};
  return { key, projectPath, said: messages.map(({ blocks }) => textOf(blocks)) };
}

const keyIn = (cwd: string | null, id = ID) => compositeKey("w1", projectId(cwd), id);

const asked = (uuid: string, parentUuid: string | null, content: string) => ({
  parentUuid,
  isSidechain: false,
  cwd: "/srv/shop",
  gitBranch: "main",
  sessionId: ID,
  uuid,
  type: "user",
  timestamp: "2026-05-04T10:00:01.000Z",
  message: { role: "user", content },
});
/** A message without a folder. */
const FIRST = { ...asked("f", null, "Hello"), cwd: "", gitBranch: "" };
const asLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

describe("a session whose project becomes known later", () => {
  test("is the same one, under the key with its project: Claude Code", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const path = `.claude/projects/p/${ID}.jsonl`;
    machine.put(path, asLines(FIRST));
    await machine.run(engine, sources);
    expect(await only(engine)).toMatchObject({ key: keyIn(null), said: ["Hello"] });
    machine.put(path, asLines(FIRST, asked("a", null, "Why?")));
    await machine.run(engine, sources);
    const known = { key: keyIn("/srv/shop"), projectPath: "/srv/shop" };
    expect(await only(engine)).toEqual({ ...known, said: ["Hello", "Why?"] });
    const [session] = (await engine.listSessions()).sessions;
    expect([session?.entryCount, session?.origin.gitBranch]).toEqual([2, "main"]);
    // In any later reading, nothing is stored twice.
    expect((await machine.run(engine, forced)).totals.entries).toBe(0);
    machine.put(path, asLines(FIRST, asked("a", null, "Why?"), asked("b", "a", "And then?")));
    await machine.run(engine, sources);
    expect((await machine.run(engine, forced)).totals.entries).toBe(0);
    expect(await only(engine)).toEqual({ ...known, said: ["Hello", "Why?", "And then?"] });
  });

  test("has the repository of its project", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    machine.put("shop/.git/HEAD", "ref: refs/heads/main\n");
    machine.put("shop/.git/config", '[remote "origin"]\n\turl = git@git.example:acme/shop.git\n');
    const path = `.claude/projects/p/${ID}.jsonl`;
    machine.put(path, asLines(FIRST));
    await machine.run(engine, sources);
    const cwd = join(machine.home, "shop");
    machine.put(path, asLines(FIRST, { ...asked("a", null, "Why?"), cwd }));
    await machine.run(engine, sources);
    expect(await only(engine)).toMatchObject({ projectPath: cwd, said: ["Hello", "Why?"] });
    expect((await engine.listSessions({ repo: "acme/shop" })).sessions).toHaveLength(1);
  });

  test("stays deleted", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const path = `.claude/projects/p/${ID}.jsonl`;
    machine.put(path, asLines(FIRST));
    await machine.run(engine, sources);
    const [session] = (await engine.listSessions()).sessions;
    await engine.deleteSession(session?.id ?? "");
    machine.put(path, asLines(FIRST, asked("a", null, "Why?")));
    expect((await machine.run(engine, sources)).totals).toMatchObject({ forgotten: 1, created: 0 });
  });

  test("is the same one when its file is emptied", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const path = `.claude/projects/p/${ID}.jsonl`;
    machine.put(path, asLines(asked("a", null, "Why?")));
    await machine.run(engine, sources);
    machine.put(path, "");
    await machine.run(engine, sources);
    machine.put(path, asLines(asked("b", null, "Again")));
    await machine.run(engine, sources);
    expect(await only(engine)).toMatchObject({ key: keyIn("/srv/shop"), said: ["Why?", "Again"] });
  });

  test("is the same one: Cursor's editor", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const file = machine.put(".config/Cursor/User/globalStorage/state.vscdb", "");
    rmSync(file);
    using database = new DatabaseSync(file);
    database.exec(`CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB);
      CREATE TABLE ItemTable (key TEXT PRIMARY KEY, value BLOB)`);
    const put = (key: string, value: object) =>
      database
        .prepare("INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)")
        .run(key, JSON.stringify(value));
    const save = (...ids: readonly string[]) =>
      put("composerData:c1", {
        composerId: "c1",
        createdAt: 1_770_000_000_000,
        fullConversationHeadersOnly: ids.map((bubbleId, i) => ({ bubbleId, type: i + 1 })),
      });
    put("bubbleId:c1:b1", { type: 1, text: "Why?" });
    save("b1");
    await machine.run(engine, sources);
    put("bubbleId:c1:b2", { type: 2, text: "So.", workspaceProjectDir: "/srv/shop" });
    save("b1", "b2");
    await machine.run(engine, sources);
    const known = { key: keyIn("/srv/shop", "c1"), projectPath: "/srv/shop" };
    expect(await only(engine)).toEqual({ ...known, said: ["Why?", "So."] });
    expect((await machine.run(engine, forced)).totals.entries).toBe(0);
  });

  test("keeps the project that it had first: Gemini CLI", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const say = (...texts: readonly string[]) =>
      machine.put(
        ".gemini/tmp/h/chats/session-a.json",
        JSON.stringify({
          sessionId: ID,
          projectHash: "h",
          startTime: "2026-05-04T10:00:00Z",
          directories: ["/srv/shop"],
          messages: texts.map((content) => ({ id: content, type: "user", content })),
        }),
      );
    say("one");
    await machine.run(engine, sources);
    machine.put(".gemini/tmp/h/.project_root", "/srv/other");
    say("one", "two");
    await machine.run(engine, sources);
    const known = { key: keyIn("/srv/shop"), projectPath: "/srv/shop" };
    expect(await only(engine)).toEqual({ ...known, said: ["one", "two"] });
    expect((await machine.run(engine, forced)).totals.entries).toBe(0);
  });

  test("is the same one: Cline", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const folder = ".cline/data/tasks/1770000000000";
    const say = (...texts: readonly string[]) =>
      machine.put(
        `${folder}/api_conversation_history.json`,
        JSON.stringify(texts.map((text) => ({ role: "user", content: [{ type: "text", text }] }))),
      );
    say("one");
    await machine.run(engine, sources);
    const item = { id: "1770000000000", task: "one", workspace: "/srv/shop" };
    machine.put(`${folder}/history_item.json`, JSON.stringify(item));
    say("one", "two");
    await machine.run(engine, sources);
    const key = keyIn("/srv/shop", "1770000000000");
    expect(await only(engine)).toEqual({ key, projectPath: "/srv/shop", said: ["one", "two"] });
  });

  test("is another one, if another file has the same short id", async () => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const meta = { agent: "a", created_by: "u", created_at: "2026-05-04T10:00:00Z" };
    const one = machine.put("one/s1.jsonl", asLines(meta, { role: "user", content: "one" }));
    const root = { ...meta, root: "/srv/shop" };
    const two = machine.put("two/s1.jsonl", asLines(root, { role: "user", content: "two" }));
    await machine.run(engine, { ...sources, paths: [one] });
    await machine.run(engine, { ...sources, paths: [two] });
    const { sessions } = await engine.listSessions();
    expect(sessions.map(({ origin }) => origin.key).toSorted()).toEqual(
      [keyIn(null, "s1"), keyIn("/srv/shop", "s1")].toSorted(),
    );
  });
});
