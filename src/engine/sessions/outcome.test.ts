import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { open } from "../../open.ts";
import { endedWith, type Outcome } from "./outcome.ts";

type Step =
  | { readonly user: string }
  | { readonly agent: string }
  | { readonly edit: string }
  | { readonly run: string; readonly gave?: string; readonly failed?: true }
  | { readonly calls: string };

/** The outcome of a session of these steps, without what is not known. */
async function outcomeOf(steps: readonly Step[]): Promise<Partial<Outcome> | undefined> {
  await using memory = await open(":memory:");
  const tenant = memory.forTenant("acme");
  const session = await tenant.createSession({ agent: "coder", createdBy: "ana" });
  for (const [i, step] of steps.entries()) {
    const id = `c${i}`;
    if ("user" in step) await session.append({ role: "user", content: step.user });
    else if ("agent" in step) await session.append({ role: "assistant", content: step.agent });
    else {
      const [name, args] =
        "edit" in step
          ? ["Edit", { file_path: step.edit }]
          : ["Bash", { command: "run" in step ? step.run : step.calls }];
      await session.append({ role: "assistant", toolCalls: [{ id, name, arguments: args }] });
      if ("calls" in step) continue;
      const output = "run" in step ? (step.gave ?? "") : "done";
      const isError = "failed" in step;
      await session.append({ role: "tool", toolResults: [{ id, name, output, isError }] });
    }
  }
  const { outcomes } = await tenant.listSessions({ outcomes: true });
  const found = Object.entries(outcomes?.get(session.id) ?? {});
  return Object.fromEntries(found.filter(([, value]) => value !== null && value !== 0));
}

const ASKED = { user: "Round the tax." };
const DONE = { agent: "Done." };
const COMMIT = { run: "git add . && git commit -m 'Round'", gave: "[main 4be1c20] Round" };

test("changes that were committed last are committed", async () => {
  const steps = [ASKED, { edit: "src/tax.ts" }, COMMIT];
  const committed = { word: "committed", commit: "4be1c20", filesChanged: 1 };
  expect(await outcomeOf([...steps, DONE])).toEqual(committed);
  expect(await outcomeOf(steps), "also without a last word").toEqual(committed);
  const later = [...steps, DONE, { user: "Why?" }, { agent: "It was off by one." }];
  expect(await outcomeOf(later)).toEqual(committed);
});

test("a request is answered whether its changes were committed or not", async () => {
  expect(await outcomeOf([ASKED, DONE])).toEqual({ word: "answered" });
  const changed = [ASKED, { edit: "src/tax.ts" }, { run: "npm test" }, DONE];
  expect(await outcomeOf(changed)).toEqual({
    word: "answered",
    filesChanged: 1,
    testsPassed: true,
  });
  const after = [ASKED, COMMIT, { user: "And the sum?" }, { edit: "src/sum.ts" }, DONE];
  expect(await outcomeOf(after)).toMatchObject({ word: "answered", filesChanged: 1 });
});

test("without an answer, or with failed tests after the last change, it is unfinished", async () => {
  const open: Step[][] = [
    [ASKED],
    [ASKED, DONE, { user: "And the sum?" }],
    [ASKED, { calls: "make" }],
    [ASKED, DONE, { user: "[Request interrupted by user]" }],
    [ASKED, { edit: "src/tax.ts" }, { run: "npm test", failed: true }, DONE],
    [ASKED, { agent: "API Error: 529 overloaded" }],
  ];
  for (const steps of open) expect(await outcomeOf(steps)).toMatchObject({ word: "unfinished" });
  const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
  const tests = { run: "npm test", gave: refused, failed: true as const };
  expect(
    await outcomeOf([ASKED, { edit: "src/tax.ts" }, { run: "npm test" }, tests, DONE]),
    "a refused run of tests is none",
  ).toMatchObject({ word: "answered", testsPassed: true });
  const mended = [ASKED, { run: "npm test", failed: true as const }, { edit: "src/tax.ts" }, DONE];
  expect(await outcomeOf(mended)).toMatchObject({ word: "answered" });
});

test("commits elsewhere and scratch files count for nothing", async () => {
  const tried = [
    ASKED,
    { edit: "/tmp/x.ts" },
    { run: "cd /tmp/x && git init && git commit" },
    DONE,
  ];
  expect(await outcomeOf(tried)).toEqual({ word: "answered" });
  const quoted = [ASKED, { run: "echo 'then git commit'" }, { run: "git commit --dry-run" }, DONE];
  expect(await outcomeOf(quoted)).toEqual({ word: "answered" });
  const clean = [ASKED, { edit: "a.ts" }, { run: "git status", gave: "working tree clean" }, DONE];
  expect(await outcomeOf(clean)).toEqual({ word: "committed", filesChanged: 1 });
  expect(await outcomeOf([])).toEqual({});
});

test("a commit counts whatever else its command does, unless it was only tried", async () => {
  const steps = [ASKED, { edit: "src/tax.ts" }];
  for (const run of [
    "git commit -m 'Round' && npm publish --dry-run",
    "GIT_EDITOR= git -C shop -c user.name=ana --no-pager commit -m 'Round'",
  ]) {
    expect(await outcomeOf([...steps, { run }, DONE]), run).toMatchObject({ word: "committed" });
  }
  for (const run of ["git commit --dry-run -m 'Round'", "git merge --abort; npm test"]) {
    expect(await outcomeOf([...steps, { run }, DONE]), run).toMatchObject({ word: "answered" });
  }
});

test.each([
  `git${" -C".repeat(40)}`,
  ";a=".repeat(40_000),
  `${";git commit".repeat(20_000)} --abort`,
])("a hostile command is read in linear time: %#", (command) => {
  const call = { type: "tool_use", id: "c", name: "Bash", input: { command } };
  const result = { type: "tool_result", toolUseId: "c", output: "", isError: false };
  const entries = [call, result].map((block, index) => ({
    role: "assistant",
    blocks: [block],
    metadata: {},
    index,
  }));
  expect(cpuMs(() => endedWith(entries as never))).toBeLessThan(1_000);
});
