/**
 * Transcripts that were edited after they were stored: the path is that of the edited file, and what it
 * said before is history.
 */

import { globSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ingest } from "../src/archive/ingest.ts";
import { type Engine, open } from "../src/index.ts";
import { SOURCES } from "../src/ingest/sources.ts";
import { textOf } from "../src/model/block.ts";
import { ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";
import { repeats } from "./support/repeats.ts";
import { fixture } from "./support/transcripts.ts";

const PATHS: Readonly<Record<string, string>> = {
  "openclaw/a1-topic-7.jsonl": ".openclaw/agents/main/sessions/a1-topic-7.jsonl",
  "cline/roo.json": "rooveterinaryinc.roo-cline/tasks/a1/api_conversation_history.json",
  "cline/kilo.json": "kilocode.kilo-code/tasks/a1/api_conversation_history.json",
  "cline/api_conversation_history.json": "tasks/a2/api_conversation_history.json",
};
const NAMES = SOURCES.map(({ name }) => name);
const FIXTURES = globSync("*/*", { cwd: join(ROOT, "test/fixtures") })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => NAMES.includes(name.split("/")[0] ?? "") && name !== "opencode/tree.json")
  .sort();

interface World {
  readonly engine: Engine;
  /** Writes the file, ingests it, and gives the number of stored entries. */
  put(content: string): Promise<number>;
}

function world(engine: Engine, name: string, folder: string): World {
  const file = join(folder, PATHS[name] ?? name);
  mkdirSync(dirname(file), { recursive: true });
  let time = 1_800_000_000;
  return {
    engine,
    async put(content) {
      writeFileSync(file, content);
      utimesSync(file, time, time++);
      const environment = { home: folder, variables: { WORKSTATION_ID: "w" }, platform: "linux" };
      const { totals } = await ingest(engine, { paths: [folder], environment, sources: SOURCES });
      return totals.entries;
    },
  };
}

/** Of each session: the messages of its path, and its tokens. */
async function paths({ engine }: World) {
  const { sessions } = await engine.listSessions({ machineMade: true });
  const all = await Promise.all(
    sessions.map(async ({ id, origin, figures }) => {
      const { messages } = await engine.listMessages(id, { limit: 500 });
      const { total, days } = await engine.stats({ session: id });
      const said = messages.map(({ role, blocks }) => ({ role, blocks }));
      // A session keeps the project that it was stored with.
      const own = origin.key?.split(":").slice(2).join(":") ?? "";
      const used = { tokens: total.tokens, cost: total.costMicroUsd, days: [...days.keys()] };
      return [own, { used, tools: figures?.toolCounts, said }] as const;
    }),
  );
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One word of each message that says one which is nowhere else in the file, in order. */
async function wordsOf(stored: World, content: string): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const word of content.match(/[A-Za-z]+/g) ?? []) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const said = Object.values(await paths(stored)).flatMap((session) => session.said);
  return said.flatMap(({ role, blocks }) => {
    if (role !== "user" && role !== "assistant") return [];
    // Texts of the agent itself are marked as such, and not searched.
    const own = /^[<#*]|You are/.test(textOf(blocks)) ? "" : textOf(blocks);
    const words = own.match(/[A-Za-z]{4,}/g) ?? [];
    return words.filter((word) => (counts.get(word) ?? 0) <= 2).slice(0, 1);
  });
}

function replaced(content: string, words: readonly string[], by: string): string {
  return words.reduce((text, word) => text.replace(new RegExp(`\\b${word}\\b`, "g"), by), content);
}

async function hits({ engine }: World, word: string, branches: "active" | "all"): Promise<number> {
  return (await engine.searchSessions(`"${word}"`, { branches })).hits.length;
}

/** The same file in a store of its own. */
async function ingestFresh(name: string, folder: string, content: string, word: string) {
  await using engine = await open(":memory:");
  const fresh = world(engine, name, folder);
  await fresh.put(content);
  return { sessions: await paths(fresh), hits: await hits(fresh, word, "active") };
}

/** Messages without ids are identified by their content: a changed last one is a new one. */
const NAMELESS = /^(cline|continue|kimi)\//;

/** The first word, one in the middle, the last, and two. */
function choices(name: string, words: readonly string[]): string[][] {
  const [first = "", middle = "", last = ""] = [words[0], words[words.length >> 1], words.at(-1)];
  if (!NAMELESS.test(name)) return [[first], [middle], [last], [first, last]];
  return words.length < 3 ? [[first]] : [[first], [words[1] ?? ""], [first, words[1] ?? ""]];
}

const ANIMALS = ["quokka", "walrus", "gibbon", "narwhal"];

async function checkEdits(engine: Engine, name: string, count: number): Promise<void> {
  const content = fixture(name);
  const folder = createFolder();
  const edited = world(engine, name, folder);
  await edited.put(content);
  const before = await paths(edited);
  const words = await wordsOf(edited, content);
  expect(words).not.toEqual([]);
  const found = new Map<string, number>();
  const edits = choices(name, words).slice(-count);
  for (const [i, chosen] of edits.entries()) {
    const animal = ANIMALS[i] ?? "";
    const now = replaced(content, chosen, animal);
    await edited.put(now);
    const fresh = await ingestFresh(name, folder, now, animal);
    expect(await paths(edited), `${chosen}`).toEqual(fresh.sessions);
    expect(await hits(edited, animal, "active")).toBe(fresh.hits);
    expect(await edited.put(now), "again").toBe(0);
    found.set(animal, fresh.hits);
  }
  await edited.put(content);
  expect(await paths(edited)).toEqual(before);
  for (const [animal, count] of found) {
    expect(await hits(edited, animal, "active")).toBe(0);
    expect(await hits(edited, animal, "all")).toBeGreaterThanOrEqual(count);
  }
  expect((await engine.verify()).problems).toEqual([]);
}

const OF_EACH_KIND = [
  "aider/history.txt",
  "claude-code/version-2.jsonl",
  "cline/roo.json",
  "codex/current.jsonl",
  "gemini-cli/session.json",
];

test.each(FIXTURES)("%s: the path after edits is that of a fresh ingest", async (name) => {
  await using engine = await open(":memory:");
  // The last choice edits two messages at once. Formats of a kind share what follows edits of edits.
  await checkEdits(engine, name, repeats(OF_EACH_KIND.includes(name) ? 2 : 1, 4));
});

test.each(OF_EACH_KIND)("%s: the same on PostgreSQL", async (name) => {
  await using engine = await open(await createDatabase());
  await checkEdits(engine, name, repeats(2, 4));
});

test.each(FIXTURES.filter((name) => name.endsWith(".jsonl") && !NAMELESS.test(name)))(
  "%s: a word replaced by one of the same length, with lines appended, is noticed",
  async (name) => {
    const content = fixture(name);
    const folder = createFolder();
    await using engine = await open(":memory:");
    const edited = world(engine, name, folder);
    const lines = content.trimEnd().split("\n");
    await edited.put(`${lines.slice(0, -1).join("\n")}\n`);
    const [word = ""] = await wordsOf(edited, content);
    const now = replaced(content, [word], "q".repeat(word.length));
    await edited.put(now);
    const fresh = await ingestFresh(name, folder, now, "q".repeat(word.length));
    expect(await paths(edited)).toEqual(fresh.sessions);
    expect(await edited.put(now), "again").toBe(0);
  },
);

const CLAUDE = "claude-code/version-2.jsonl";

test("messages appended here keep the leaf, and the edits are counted as off the path", async () => {
  await using engine = await open(":memory:");
  const edited = world(engine, CLAUDE, createFolder());
  await edited.put(fixture(CLAUDE));
  const [word = ""] = await wordsOf(edited, fixture(CLAUDE));
  const { sessions } = await engine.listSessions({});
  const session = await engine.getSession(sessions[0]?.id ?? "");
  const own = await session.append({ role: "user", content: "ours" });
  const before = await paths(edited);
  expect(await edited.put(replaced(fixture(CLAUDE), [word], "quokka"))).toBeGreaterThan(0);
  expect((await session.meta()).leaf).toBe(own.id);
  expect(await paths(edited)).toEqual(before);
  expect(await hits(edited, "quokka", "all")).toBe(1);
});
