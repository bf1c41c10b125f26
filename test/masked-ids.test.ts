/**
 * Transcripts whose ids were masked, or repeat: nothing that was said is lost, and nothing is stored
 * twice.
 */

import { appendFileSync, globSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ingest } from "../src/archive/ingest.ts";
import { type Engine, open } from "../src/index.ts";
import { SOURCES } from "../src/ingest/sources.ts";
import type { Block } from "../src/model/block.ts";
import { ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { isStress } from "./support/repeats.ts";
import { fixture, readWhole } from "./support/transcripts.ts";

const PATHS: Readonly<Record<string, string>> = {
  "openclaw/a1-topic-7.jsonl": ".openclaw/agents/main/sessions/a1-topic-7.jsonl",
  "cline/roo.json": "rooveterinaryinc.roo-cline/tasks/a1/api_conversation_history.json",
  "cline/kilo.json": "kilocode.kilo-code/tasks/a1/api_conversation_history.json",
  "cline/api_conversation_history.json": "tasks/a2/api_conversation_history.json",
};
/** Not a file of its own; text without ids; a file with the state beside its log. */
const OTHERS = [
  "opencode/tree.json",
  "aider/history.txt",
  "cursor/transcript.txt",
  "specstory/history.md",
  "specstory/older.md",
];
const NAMES = SOURCES.map(({ name }) => name);
const FIXTURES = globSync("*/*", { cwd: join(ROOT, "test/fixtures") })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => NAMES.includes(name.split("/")[0] ?? "") && !OTHERS.includes(name))
  .sort();

/** Ids of records, messages, parts and calls, and references to them, in all formats. */
const ID =
  /^(id|uuid|parent|(logical)?parent_?(uuid|id)|(last|leaf|message|request|response|prompt|tool_?use|tool_?call|call|event|bubble|item|first_?kept_?entry|target|from|parent_?message|step|interaction|parent_?tool_?call|source_?call)_?(uuid|id))$/i;

type Mask = (id: string, number: number) => string;
const MASKS: Readonly<Record<string, Mask>> = {
  "one id for all": () => "[REDACTED]",
  "pairs of equal ids": (_id, number) => `masked-${number >> 1}`,
};
/** Whether files also grow under each mask, or under the harder one alone. */
const GROWING = isStress ? Object.keys(MASKS) : ["pairs of equal ids"];

/** The values in a file: one of JSON lines, or one document. */
function parse(text: string): {
  readonly values: readonly unknown[];
  readonly isDocument: boolean;
} {
  try {
    return { values: [JSON.parse(text)], isDocument: true };
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return { values: lines.map((line) => JSON.parse(line)), isDocument: false };
  }
}

/** The names of all fields: an id that is one of them is unique in its object. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

/** The lines of the file with its ids masked, except those in `kept`. */
function masked(text: string, mask: Mask, kept: ReadonlySet<string>): string[] {
  const { values, isDocument } = parse(text);
  const names = new Set(namesIn(values));
  const numbers = new Map<string, number>();
  const of = (id: string) => {
    if (kept.has(id) || names.has(id)) return id;
    if (!numbers.has(id)) numbers.set(id, numbers.size);
    return mask(id, numbers.get(id) ?? 0);
  };
  const walk = (value: unknown, key = ""): unknown => {
    if (typeof value === "string") return ID.test(key) && value !== "" ? of(value) : value;
    if (Array.isArray(value)) return value.map((each) => walk(each));
    if (typeof value !== "object" || value === null) return value;
    const fields = Object.entries(value).map(([name, each]) => [name, walk(each, name)]);
    return Object.fromEntries(fields);
  };
  return values.map((value) => `${JSON.stringify(walk(value), null, isDocument ? 1 : 0)}\n`);
}

/** What a block says, without ids. */
function saidIn(block: Block): string[] {
  switch (block.type) {
    case "text":
    case "thinking":
      return [`${block.type} ${block.text}`];
    case "tool_use":
      return [`call ${block.name} ${JSON.stringify("input" in block ? block.input : "")}`];
    case "tool_result":
      return typeof block.output === "string"
        ? [`result ${block.output}`]
        : [`result ${block.output.flatMap(saidIn).join()}`];
    default:
      return [block.type];
  }
}

/** Everything that the sessions of the store hold, on all branches. */
async function saidBy(engine: Engine): Promise<string[]> {
  const said: string[] = [];
  const { sessions } = await engine.listSessions({ machineMade: true, limit: 500 });
  for (const { id } of sessions) {
    const { entries } = await engine.session(id).listEntries({ tree: true, limit: 500 });
    for (const { kind, blocks } of entries) {
      if (kind !== "custom") said.push(...blocks.flatMap((block) => saidIn(block)));
    }
  }
  return said.sort();
}

/** What is stored of the parts of a file, each ingested when it was written, and read again. */
async function storedOf(name: string, parts: readonly string[]): Promise<string[]> {
  await using removed = new AsyncDisposableStack();
  const home = createFolder((remove) => removed.defer(remove));
  const path = join(home, PATHS[name] ?? name.replace("/", "/x/"));
  mkdirSync(dirname(path), { recursive: true });
  await using engine = await open(":memory:", { inThread: true });
  const environment = { home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" } as const;
  for (const part of parts) {
    appendFileSync(path, part);
    await ingest(engine, { environment, paths: [path] });
  }
  const said = await saidBy(engine);
  await ingest(engine, { environment, paths: [path], force: true });
  expect(await saidBy(engine), "read again").toEqual(said);
  return said;
}

/** Three parts of about the same number of lines. */
function thirdsOf(lines: readonly string[]): string[] {
  const at = [0, 1, 2, 3].map((n) => Math.ceil((n * lines.length) / 3));
  return [0, 1, 2].map((n) => lines.slice(at[n], at[n + 1]).join(""));
}

describe.each(FIXTURES)("%s is stored as with its own ids, also as it grows", (name) => {
  const text = fixture(name);
  let kept: ReadonlySet<string>;
  let truth: string[];
  let asOwn: string[] | undefined;

  beforeAll(async () => {
    const { sessions } = await readWhole(text, { path: PATHS[name] ?? name, pieces: 65_536 });
    kept = new Set(sessions.flatMap(({ session }) => session.id ?? []));
    const own = masked(text, (id) => id, kept);
    truth = await storedOf(name, [own.join("")]);
    expect(truth.length).toBeGreaterThan(1);
    if (own.length > 1) asOwn = await storedOf(name, thirdsOf(own));
  });

  test.each(Object.entries(MASKS))("%s", async (kind, mask) => {
    const other = masked(text, mask, kept);
    expect(await storedOf(name, [other.join("")])).toEqual(truth);
    if (asOwn === undefined || !GROWING.includes(kind)) return;
    const grown = await storedOf(name, thirdsOf(other));
    // Lines that change earlier messages change which of them is the first of its id.
    if (name === "copilot-chat/session.jsonl") expect(grown).toEqual(expect.arrayContaining(asOwn));
    else expect(grown).toEqual(asOwn);
  });
});

test("files that name their sessions alike, because the names are masked, are sessions of their own", async () => {
  const home = createFolder();
  await using engine = await open(":memory:", { inThread: true });
  const environment = { home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" } as const;
  const lines = masked(fixture("opencode-export/export.json"), () => "[REDACTED]", new Set());
  for (const word of ["one", "two"]) {
    const text = lines
      .join("")
      .replace("ses_1", "[REDACTED]")
      .replace("Why twice?", `Why ${word}?`);
    appendFileSync(join(home, `${word}.json`), text);
  }
  const truth = await storedOf("opencode-export/export.json", [
    fixture("opencode-export/export.json"),
  ]);
  for (const force of [false, true]) {
    await ingest(engine, { environment, paths: [home], force });
    const { sessions } = await engine.listSessions();
    expect(sessions).toHaveLength(2);
    expect(await saidBy(engine)).toEqual(
      ["one", "two"]
        .flatMap((word) => truth.map((text) => text.replace("Why twice?", `Why ${word}?`)))
        .sort(),
    );
  }
});

test("answers of Claude Code whose ids are masked have the usage of each", async () => {
  const line = (n: number, text: string, input: number, output: number) => {
    const usage = { input_tokens: input, output_tokens: output, cache_read_input_tokens: n };
    const content = [{ type: "text", text }];
    const message = { id: "[REDACTED]", role: "assistant", model: "large-4", content, usage };
    const timestamp = new Date(Date.UTC(2026, 4, 4, 10, n)).toISOString();
    const base = { sessionId: "s1", cwd: "/srv/shop", uuid: "[REDACTED]", timestamp };
    return `${JSON.stringify({ ...base, type: "assistant", message })}\n`;
  };
  // Two answers, of two lines and of one.
  const file = line(1, "a", 100, 1) + line(1, "b", 100, 20) + line(2, "c", 300, 5);
  const { sessions } = await readWhole(file, { source: "claude-code" });
  const used = sessions.flatMap(({ entries }) => entries.flatMap(({ usage }) => usage ?? []));
  expect(used.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
    [100, 20],
    [300, 5],
  ]);
});
