import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SOURCES } from "../src/ingest/sources.ts";
import { ROOT } from "./support/cli.ts";
import { fixture } from "./support/transcripts.ts";

/** Every format against every other: a file is recognised by its own reader only. */

/** The path of a fixture, if it matters for recognition. */
const PATHS: Readonly<Record<string, string>> = {
  "openclaw/a1-topic-7.jsonl": "/home/ana/.openclaw/agents/main/sessions/a1-topic-7.jsonl",
  "cline/roo.json": "/x/rooveterinaryinc.roo-cline/tasks/a1/api_conversation_history.json",
  "cline/kilo.json": "/x/kilocode.kilo-code/tasks/a1/api_conversation_history.json",
};

/** Sources whose name differs from their fixture folder. */
const NAMES: Readonly<Record<string, string>> = {
  "cline/roo.json": "roo-code",
  "cline/kilo.json": "kilo-code",
};

/** Templates from which tests generate transcripts. */
const OTHERS: readonly string[] = ["opencode/tree.json"];

const SOURCE_NAMES = SOURCES.map(({ name }) => name);

const FIXTURES = globSync("*/*", { cwd: join(ROOT, "test/fixtures") })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => SOURCE_NAMES.includes(name.split("/")[0] ?? "") && !OTHERS.includes(name))
  .sort();

function claimed(head: Uint8Array, path: string): string[] {
  return SOURCES.filter((source) => source.recognise(head, path)).map(({ name }) => name);
}

describe("recognising", () => {
  test.each(FIXTURES)("%s has one format, wherever its head is cut", (name) => {
    const path = PATHS[name] ?? `/somewhere/${name}`;
    const expected = NAMES[name] ?? name.split("/")[0] ?? "";
    const whole = Buffer.from(fixture(name));
    expect(claimed(whole, path)).toEqual([expected]);
    for (const length of [0, 1, 10, 50, 100, 200, 400, 800, 1600]) {
      const names = claimed(whole.subarray(0, length), path);
      expect(names.filter((found) => found !== expected)).toEqual([]);
    }
  });

  test("opencode's older session files are recognised as opencode's", () => {
    const tree = JSON.parse(fixture("opencode/tree.json")) as Record<string, unknown>;
    const head = Buffer.from(JSON.stringify(tree["storage/session/p1/ses_1.json"]));
    expect(claimed(head, "/x/session/p1/ses_1.json")).toEqual(["opencode-files"]);
  });

  test.each([
    ["nothing", ""],
    ["text", "user: hello\nassistant: hello\n"],
    ["a JSON array of numbers", "[1,2,3]"],
    ["a package.json", '{"name":"x","version":"1.0.0","dependencies":{}}'],
    ["a bare array of messages", '[{"role":"user","content":"hello"}]'],
    ["a JSON Lines log", '{"level":30,"time":1,"msg":"started"}\n'],
    ["another database", "SQLite format 3\0"],
    ["Markdown", "# A title\n\nSome text.\n"],
  ])("%s is not recognised", (_, content) => {
    expect(claimed(Buffer.from(content), "/somewhere/file")).toEqual([]);
  });
});

test("sources have unique names", () => {
  expect(new Set(SOURCE_NAMES).size).toBe(SOURCE_NAMES.length);
});

test("resume commands contain no id that a shell or the agent could misread", () => {
  for (const source of SOURCES) {
    for (const id of ["x; rm -rf ~", "--dangerously-skip-permissions"]) {
      const command = source.resumeCommand?.({ id, cwd: null }) ?? "";
      expect(command).not.toContain(id);
    }
  }
});
