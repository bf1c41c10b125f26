/** Contexts and compaction on the command line. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-context-"));
const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;
let id = "";

const cli = (...args: string[]): Promise<Ran> =>
  callCli([...args, "--db", join(folder, "store.db")]);

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await cli(...args, "--json");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

beforeAll(async () => {
  id = (await cli("new", "--agent", "coder", "--by", "ana")).stdout.trim();
  for (let n = 1; n <= 4; n++) {
    await cli("append", id, `question ${n} about the ibex`, "--actor", "ana");
    // The summary must be shorter than what it replaces.
    const length = n < 4 ? 100 : 0;
    const content = `answer ${n}${" at length".repeat(length)}`;
    await cli("append", id, content, "--role", "assistant", "--actor", "coder");
  }
  await cli("append", id, `the token is ${SECRET}`, "--actor", "ana");
  await cli("append", id, "noted", "--role", "assistant", "--actor", "coder");
});

afterAll(() => removeFolder(folder));

describe("context", () => {
  test("shows each message with its part and its tokens", async () => {
    const { code, stdout } = await cli("context", id, "--budget", "8000");
    expect(code).toBe(0);
    expect(stdout).toContain("recent · user ana\n    question 1 about the ibex");
    expect(stdout).toMatch(/\d+ of 8,000 tokens, 10 messages\./);
    expect(stdout).not.toContain(SECRET);
    expect((await cli("context", id, "--budget", "8000", "--raw")).stdout).toContain(SECRET);
  });

  test("as JSON, and in the shape of a provider", async () => {
    const context = await json("context", id, "--budget", "300", "--turns", "2", "--recall", "0");
    expect(context).toMatchObject({ shortened: 0 });
    expect(JSON.stringify(context["omitted"])).toContain("recent_turns");
    const { stdout } = await cli("context", id, "--budget", "8000", "--provider", "anthropic");
    const { messages } = JSON.parse(stdout) as { messages: { role: string }[] };
    expect(messages.slice(0, 2).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("reports the needed tokens, and refuses unknown options", async () => {
    const small = await cli("context", id, "--budget", "5");
    expect(small.code).toBe(2);
    expect(small.stderr).toContain("--budget must be at least 256, not 5");
    for (const args of [
      ["context", id, "--budget", "many"],
      ["context", id, "--budget", "900", "--provider", "nobody"],
    ]) {
      expect((await cli(...args)).code).toBe(2);
    }
  });
});

test("usage separates the context from the billed tokens", async () => {
  const { stdout } = await cli("usage", id);
  expect(stdout).toMatch(/^Context {6}\d+ tokens \(estimated: no provider reported any\)/);
  expect(await json("usage", id)).toMatchObject({
    estimated: true,
    compaction: null,
    reported_by: null,
    billed: { input_tokens: 0 },
  });
});

test("recall finds matching messages, or exits with 1", async () => {
  expect((await cli("recall", id, "ibex", "--k", "2")).stdout).toContain("about the ibex");
  const found = await json("recall", id, "token is");
  expect(JSON.stringify(found)).not.toContain(SECRET);
  expect((await cli("recall", id, "nobody-said-this")).code).toBe(1);
});

test("a message is shown by the number that hits and blame print", async () => {
  const numbers = async (...words: string[]) => {
    const page = (await json("show", ...words)) as { messages: { msg_idx: number }[] };
    return page.messages.map((message) => message.msg_idx);
  };
  expect(await numbers(`${id}#3`, "--limit", "3")).toEqual([2, 3, 4]);
  expect(await numbers(id, "--around", "3", "--limit", "1")).toEqual([3]);
  expect((await cli("show", id, "--around", "3", "--offset", "1")).code).toBe(2);
});

test("a pinned entry is shown first, until unpinned", async () => {
  const { messages } = (await json("show", id, "--limit", "1")) as { messages: { id: string }[] };
  const entry = messages[0]?.id ?? "";
  expect(await json("pin", id, entry)).toEqual({ entry_id: entry, pinned: true });
  const pinned = await cli("context", id, "--budget", "8000");
  expect(pinned.stdout).toMatch(/^pinned · user ana\n {4}question 1/);
  expect((await cli("pin", id, entry, "--off")).code).toBe(0);
  expect((await cli("context", id, "--budget", "8000")).stdout).not.toContain("pinned ·");
  expect((await cli("pin", id, "nothing")).code).toBe(1);
});

describe("compact", () => {
  test("plans, compacts once, and then has nothing to do", async () => {
    const plan = await json("compact", id, "--keep", "messages=2", "--dry-run");
    expect(plan).toMatchObject({ through_sequence: 8, split_turn: false });
    expect((await json("usage", id))["compaction"]).toBeNull();
    const done = await cli("compact", id, "--keep", "messages=2");
    expect(done.stdout).toMatch(/^Compacted 8 messages: \d+ tokens became \d+\./);
    expect(done.stdout).toContain("question 4 about the ibex");
    const again = await cli("compact", id, "--keep", "messages=2");
    expect([again.code, again.stdout]).toEqual([1, ""]);
    expect(again.stderr).toContain("nothing_to_compact");
    const { stdout } = await cli("context", id, "--budget", "8000", "--recall", "0");
    expect(stdout).toContain("summary · user");
    expect(stdout).not.toContain("recent · user ana\n    question 4");
    const shown = await cli("history", id, "--summaries");
    expect(shown.stdout).toContain("compaction");
  });

  test("takes the preset of claw-code with its two numbers", async () => {
    const small = await cli("compact", id, "--preset", "claw");
    expect(small.stdout).toContain("Too little to compact");
    const wrong = await cli("compact", id, "--preset", "claw,mesages=2");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--preset must be")]);
    const plan = await json("compact", id, "--preset", "claw,messages=1,tokens=0", "--dry-run");
    expect(plan["covered"]).not.toEqual([]);
  });

  test("refuses contradicting options, and an unknown model", async () => {
    const two = await cli("compact", id, "--keep", "half", "--preset", "claw");
    expect([two.code, two.stderr]).toEqual([2, expect.stringContaining("preset replaces keep")]);
    const model = await cli("compact", id, "--keep", "none", "--summarizer", "model");
    expect([model.code, model.stderr]).toEqual([5, expect.stringContaining("model_unavailable")]);
  });
});

test("summaries lists the summaries of summarize and compact", async () => {
  const written = await json("summarize", id, "--profile", "claw");
  expect(String(written["text"])).toContain("Conversation summary:");
  const { summaries } = (await json("summaries", id)) as { summaries: { kind: string }[] };
  expect(summaries.map(({ kind }) => kind)).toEqual(["compaction", "summary"]);
  expect((await cli("summaries", id)).stdout).toContain("compaction");
});
