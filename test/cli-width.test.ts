/** Answers in a terminal of 80 columns, about a session with long texts. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { widthOf } from "../src/cli/text.ts";
import { open } from "../src/open.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

const COLUMNS = 80;
const QUESTION = "Why does the nightly job that renews every lease run twice on Mondays? ".repeat(
  9,
);
const COMMAND = `make deploy ${"TARGET=staging ".repeat(12)}`;

const folder = mkdtempSync(join(tmpdir(), "backscroll-width-"));
const db = join(folder, "store.db");

function cli(...args: string[]): Promise<Ran> {
  return callCli(args, { env: { BACKSCROLL_DB: db, COLUMNS: String(COLUMNS) } });
}

afterAll(() => removeFolder(folder));

beforeAll(async () => {
  await using memory = await open(db, { inThread: true });
  const session = await memory.createSession({
    id: "long",
    agent: "coder",
    createdBy: "ana",
    title: QUESTION.slice(0, 200),
    origin: { projectPath: `/srv/${"folder/".repeat(20)}shop`, gitBranch: "fix/".repeat(15) },
  });
  await session.append([
    { role: "user", actor: "ana", content: QUESTION },
    { role: "assistant", toolCalls: [{ id: "1", name: "Bash", input: { command: COMMAND } }] },
    { role: "tool", actor: "Bash", toolResults: [{ id: "1", name: "Bash", output: QUESTION }] },
    {
      role: "assistant",
      actor: "coder",
      model: "example-model",
      content: QUESTION,
      usage: {
        inputTokens: 1_234_567,
        outputTokens: 1_234_567,
        cacheReadTokens: 12_345_678,
        cacheCreationTokens: 1_234_567,
      },
    },
  ]);
});

test.each([
  ["list"],
  ["show", "long"],
  ["show", "long", "--tree"],
  ["history", "long"],
  ["search", "nightly", "job"],
  ["recap", "long"],
  ["trace", "--command", "make deploy"],
  ["usage", "long"],
  ["context", "long"],
  ["stats"],
  ["doctor", "--verify"],
  ["trust"],
])("%s fits", async (...args) => {
  const { code, stdout, stderr } = await cli(...args);
  expect([code, stderr]).toEqual([0, ""]);
  // The store's path is as long as it is.
  const lines = stdout.split("\n").filter((line) => !line.startsWith("Store "));
  expect(lines.filter((line) => widthOf(line) > COLUMNS)).toEqual([]);
});

test("a long line of recap continues on indented lines", async () => {
  const { stdout } = await cli("recap", "long");
  expect(stdout).toMatch(/^ {2}asked #0: Why does .*\n {6}\w/m);
});
