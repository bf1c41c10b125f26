import { rmSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { SEED, seeded } from "../../test/support/random.ts";
import { repeats } from "../../test/support/repeats.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine, type Machine } from "./archive.cases.ts";
import { watchPlaces } from "./watch.ts";

const ID = "7c1b2c3d-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const SOURCES = { sources: [CLAUDE_CODE] };

function line(uuid: string, parentUuid: string | null, minute: number): string {
  const type = uuid.includes("u") ? "user" : "assistant";
  const call = { type: "tool_use", id: `call-${uuid}`, name: "Bash", input: {} };
  const content = [{ type: "text", text: `text ${uuid}` }, ...(type === "user" ? [] : [call])];
  const message = { role: type, content, ...(type === "user" ? {} : { id: `m-${uuid}` }) };
  const timestamp = new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString();
  const place = { sessionId: ID, cwd: "/srv/shop", timestamp };
  return `${JSON.stringify({ type, uuid, parentUuid, message, ...place })}\n`;
}

/**
 * Three files of one session: the second begins with a root, the third with a copy of the second.
 */
const SECOND = [line("2u", null, 10), line("2a", "2u", 11), line("2v-u", "2a", 12)];
const FILES: Readonly<Record<string, readonly string[]>> = {
  b: [line("1u", null, 0), line("1a", "1u", 1), line("1b", "1a", 2)],
  c: SECOND,
  a: [...SECOND, line("3a", "2v-u", 20), line("3u", "3a", 21)],
};
const PATH = ["1u", "1a", "1b", "2u", "2a", "2v-u", "3a", "3u"].map((uuid) => `text ${uuid}`);

function write(machine: Machine, name: string, lines: number): string {
  const content = (FILES[name] ?? []).slice(0, lines).join("");
  return machine.put(`.claude/projects/-srv-shop/${name}.jsonl`, content);
}

async function path(tenant: TenantEngine): Promise<string[]> {
  const { sessions } = await tenant.listSessions({});
  expect(sessions).toHaveLength(1);
  const { messages } = await tenant.listMessages(sessions[0]?.id ?? "", { limit: 500 });
  return messages.map(({ blocks }) => textOf(blocks));
}

test("files of one session give one path, in any order and split", async () => {
  const random = seeded(SEED);
  const orders = ["abc", "acb", "bac", "bca", "cab", "cba"];
  for (const order of orders) {
    for (let round = 0; round < repeats(2, 40); round++) {
      await using engine = await open(":memory:");
      const machine = createMachine();
      // First whole files, then cut at any line and completed in any order.
      const steps = [...order].flatMap((name) => {
        const { length } = FILES[name] ?? [];
        const cut = round === 0 ? length : Math.floor(random() * length) + 1;
        return cut === length
          ? [{ name, lines: cut }]
          : [
              { name, lines: cut },
              { name, lines: length },
            ];
      });
      if (round > 0) steps.sort((a, b) => a.lines - b.lines || random() - 0.5);
      let id: string | undefined;
      for (const { name, lines } of steps) {
        write(machine, name, lines);
        await machine.run(engine, SOURCES);
        const { sessions } = await engine.listSessions({});
        id ??= sessions[0]?.id;
        expect(sessions.map((session) => session.id)).toEqual([id]);
      }
      const label = `${order} ${round} ${JSON.stringify(steps)}`;
      expect(await path(engine), label).toEqual(PATH);
      const { totals } = await machine.run(engine, { ...SOURCES, force: true });
      expect(totals, label).toMatchObject({ entries: 0, problems: new Map() });
      expect(await path(engine), label).toEqual(PATH);
      expect((await machine.run(engine, SOURCES)).totals.files.unchanged, label).toBe(3);
      expect((await engine.verify()).problems, label).toEqual([]);
    }
  }
});

test("files found together are read by mtime, none of them twice", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  for (const [i, name] of ["b", "c", "a"].entries()) utimesSync(write(machine, name, 9), i, i);
  await machine.run(engine, SOURCES);
  expect(await path(engine)).toEqual(PATH);
  const { sessions } = await engine.listSessions({});
  expect(sessions[0]?.figures?.toolCounts).toEqual({ Bash: 4 });
});

test("a watcher stores the same path", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  write(machine, "a", 4);
  const end = new AbortController();
  const watching = watchPlaces(engine, {
    environment: { home: machine.home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" },
    ...SOURCES,
    signal: end.signal,
    reconcileMs: 50,
  });
  const holds = (text: string) =>
    expect.poll(async () => (await path(engine)).includes(text), { interval: 20 }).toBe(true);
  await expect.poll(async () => (await engine.listSessions({})).sessions.length).toBe(1);
  await holds("text 3a");
  write(machine, "b", 3);
  await holds("text 1b");
  write(machine, "a", 5);
  write(machine, "c", 3);
  await holds("text 3u");
  await expect.poll(() => path(engine), { interval: 20 }).toEqual(PATH);
  end.abort();
  await watching;
});

test("a late file of a session that was continued here is a branch, and counted", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  write(machine, "a", 5);
  await machine.run(engine, SOURCES);
  const { sessions } = await engine.listSessions({});
  const session = await engine.getSession(sessions[0]?.id ?? "");
  await session.append({ role: "user", content: "said here" });
  const before = await path(engine);
  write(machine, "b", 3);
  const { totals } = await machine.run(engine, SOURCES);
  expect(totals.problems).toEqual(new Map([["late_file", 1]]));
  expect(await path(engine)).toEqual(before);
  expect((await session.branches()).map(({ messages }) => messages).sort()).toEqual([3, 6]);
  const { hits } = await engine.searchSessions('"text 1b"', { branches: "all" });
  expect(hits).toMatchObject([{ branch: "late", meta: { lateBranches: 1 } }]);
  const onPath = await engine.searchSessions('"said here"');
  expect(onPath.hits).toMatchObject([{ branch: null, meta: { lateBranches: 1 } }]);
  expect(onPath.notes).toEqual([expect.stringMatching(/^late files of .* are on a branch/)]);
  // An abandoned branch is not a late file, and a growing file has one branch.
  await session.edit(onPath.hits[0]?.entryId ?? "", "said otherwise");
  const more = [...(FILES["b"] ?? []), line("1c-u", "1b", 3)].join("");
  machine.put(".claude/projects/-srv-shop/b.jsonl", more);
  await machine.run(engine, SOURCES);
  const left = await engine.searchSessions('"said here"', { branches: "all" });
  expect(left.hits).toMatchObject([{ branch: "left", meta: { lateBranches: 1 } }]);
  expect(left.notes).toEqual([]);
  const grown = await engine.searchSessions('"text 1b"', { branches: "all" });
  expect(grown.hits).toMatchObject([{ branch: "late" }]);
});

test("a late file is a branch too where another file of the session is gone", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const gone = write(machine, "a", 5);
  await machine.run(engine, SOURCES);
  rmSync(gone);
  write(machine, "b", 3);
  const { totals } = await machine.run(engine, SOURCES);
  expect(totals.problems).toEqual(new Map([["late_file", 1]]));
  expect(await path(engine)).toEqual(PATH.slice(3));
});

test("a re-imported session is not marked as deleted, also after an interruption", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  write(machine, "a", 5);
  await machine.run(engine, SOURCES);
  write(machine, "b", 3);
  const broken = Object.create(engine) as TenantEngine;
  const { sessions } = await engine.listSessions({});
  let imports = 0;
  broken.importSession = async (imported, options) => {
    // The session is deleted by then, and its second file not yet read.
    if (++imports === 3) throw new Error("the machine went down");
    return engine.importSession(imported, options);
  };
  await machine.run(broken, SOURCES);
  await machine.run(engine, SOURCES);
  expect(await path(engine)).toEqual([...PATH]);
  expect((await engine.listSessions({})).sessions[0]?.id).toBe(sessions[0]?.id);
});

test("a changed line is a sibling on the path, and the lines after it follow it", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const put = (...lines: readonly string[]) =>
    machine.put(".claude/projects/-srv-shop/b.jsonl", lines.join(""));
  const [first = "", second = "", third = ""] = FILES["b"] ?? [];
  put(first, second);
  await machine.run(engine, SOURCES);
  put(first, second.replace("text 1a", "other 1a"));
  const changed = await machine.run(engine, { ...SOURCES, force: true });
  expect(changed.totals).toMatchObject({ entries: 1, problems: new Map() });
  expect(await path(engine)).toEqual(["text 1u", "other 1a"]);
  expect((await machine.run(engine, { ...SOURCES, force: true })).totals.entries).toBe(0);
  // One in the middle.
  put(first.replace("text 1u", "other 1u"), second.replace("text 1a", "other 1a"), third);
  const middle = await machine.run(engine, { ...SOURCES, force: true });
  expect(middle.totals.problems).toEqual(new Map());
  expect(await path(engine)).toEqual(["other 1u", "other 1a", "text 1b"]);
  expect((await engine.searchSessions('"text 1u"')).hits).toEqual([]);
  expect((await engine.searchSessions('"text 1u"', { branches: "all" })).hits).toHaveLength(1);
  expect((await engine.verify()).problems).toEqual([]);
});
