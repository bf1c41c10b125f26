import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { NOW, type Step, UnaskedStore } from "../../../test/support/unasked-store.ts";
import { errorLines, fixedPart, normalError } from "./error-line.ts";

const FAILED = "fatal: unrecognized argument: --no-stat";
const MET: readonly Step[] = [
  { user: "Show me the commit." },
  { run: "git show --no-stat HEAD", gave: FAILED, failed: true },
  { run: "git show --no-patch HEAD", gave: "commit 4be1c20" },
  { agent: "Here it is." },
];
const AGAIN = { moment: "error", command: "git show --no-stat HEAD~3", error: FAILED } as const;

test("a failed command gets the changed command that worked, in two lines with the session", async () => {
  const store = await UnaskedStore.open();
  const session = await store.add(MET);
  const { shortId } = await session.meta();
  const said = await store.ask(AGAIN);
  expect(said.text.split("\n").slice(1, -1)).toEqual([
    `\`git show --no-stat HEAD~3\` gave "${FAILED}" on 2026-01-01, too.`,
    `Worked then: git show --no-patch HEAD (${shortId}#3)`,
  ]);
  expect(said.signs).toEqual([shortId, "git show --no-patch HEAD"]);
});

test("the same command that passed later is no cure, nor is one after an edit", async () => {
  const store = await UnaskedStore.open();
  const [user, failed, cure] = MET as [Step, Step, Step];
  await store.add([user, failed, { run: "git show --no-stat HEAD", gave: "ok" }, cure]);
  await store.add([user, failed, { edit: "/home/ana/shop/.gitconfig" }, cure]);
  expect((await store.ask(AGAIN)).why).toMatchObject({ reason: "no_cure", figures: { met: 2 } });
});

test.each([
  "Exit code 1",
  "[lint] ERROR task failed",
  "context deadline exceeded",
  "Sibling tool call errored",
  "src/cron.ts:12:4: error: missing return",
  "--- FAIL: TestCron (0.01s)",
  "Request interrupted by user",
  "",
])("%j names no error of its own", async (error) => {
  expect(errorLines(error)).toEqual([]);
  const store = await UnaskedStore.open();
  const said = await store.ask({ moment: "error", command: "mise run lint", error });
  expect(said).toMatchObject({ speaks: false, text: "", why: { reason: "generic_error" } });
});

test.each([
  "Exit code 127\n(eval):1: command not found: golangci-lint",
  "zsh:1: command not found: golangci-lint",
  "bash: line 1: golangci-lint: command not found",
])("%j names a missing program", (error) => {
  expect(errorLines(error)).toHaveLength(1);
});

test("what comes later, or is the caller's own or foreign, gives no cure", async () => {
  const store = await UnaskedStore.open();
  const session = await store.add(MET);
  const { createdAt } = (await session.listMessages({ limit: 1 })).messages[0] as {
    createdAt: number;
  };
  expect((await store.ask({ ...AGAIN, at: createdAt })).speaks).toBe(false);
  expect((await store.ask({ ...AGAIN, at: createdAt + 2_500 })).speaks).toBe(false);
  expect((await store.ask({ ...AGAIN, at: NOW })).speaks).toBe(true);
  expect((await store.ask({ ...AGAIN, session: session.id })).speaks).toBe(false);
  const foreign = await UnaskedStore.open();
  await foreign.add(MET, { origin: { source: "claude-code", projectPath: "/home/ana/shop" } });
  expect((await foreign.ask(AGAIN)).speaks).toBe(false);
});

test("a cure that a person marked is never said", async () => {
  const store = await UnaskedStore.open();
  const session = await store.add(MET);
  const cure = (await session.listMessages({ offset: 3, limit: 1 })).messages[0];
  await session.mark({ entryId: cure?.id as string, reason: "It hides the files." });
  expect((await store.ask(AGAIN)).why.reason).toBe("marked");
});

test("lines of a megabyte, and many of them, take linear time", () => {
  const hostile = [
    `error: ${"a/".repeat(500_000)}`,
    "not found ".repeat(100_000),
    "error: x\n".repeat(120_000),
    `error ${"/a".repeat(180)} not found\n`.repeat(3_000),
    "<".repeat(1_000_000),
  ];
  const ms = cpuMs(() => {
    for (const text of hostile) {
      for (const line of errorLines(text)) {
        normalError(line);
        fixedPart(line);
      }
    }
  });
  expect(ms).toBeLessThan(2_000);
});
