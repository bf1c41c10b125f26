import { expect, test } from "vitest";
import { call, entry, result } from "./digest/digest.cases.ts";
import { addToHandover, renderHandover, startHandover } from "./handover.ts";

const SAID = [
  entry("1", "user", "Make the retry bounded."),
  entry(
    "2",
    "assistant",
    "I read it first. We will use 5 attempts instead of 50.\n```\nconst never = 99;\n```",
    call("t1", "Read", { file_path: "src/retry.ts" }),
    call("t2", "Bash", { command: "npm test" }),
  ),
  entry("3", "tool", result("t1", "x"), result("t2", "1 failed", { error: true })),
  entry(
    "4",
    "assistant",
    "The suite takes 41 s now.",
    call("t3", "Edit", { file_path: "src/a.ts" }),
  ),
  entry("5", "tool", result("t3", "ok")),
  entry("6", "user", "Never touch the lock file."),
];

function handover() {
  const started = startHandover();
  for (const each of SAID) addToHandover(started, each);
  return started;
}

test("requests, decisions, figures, files and commands are kept verbatim", () => {
  expect(renderHandover(handover(), 10_000)).toBe(`## Asked
- Make the retry bounded.
- Never touch the lock file.

## Decided
- We will use 5 attempts instead of 50.

## Files changed
- src/a.ts

## Commands run
- npm test (failed)

## Figures
- The suite takes 41 s now.

## Files read
- src/retry.ts

## Where it stood
- Never touch the lock file.`);
});

test("questions, announcements and line numbers are neither decisions nor figures", () => {
  const started = startHandover();
  const said = [
    "So we don't need the lock any more? Let me check the reference at line 1196:",
    "- **Fixed**: `cart.ts:331` and line 12 say so.",
    "1. **Kept**: the lock stays instead of the queue.",
  ];
  addToHandover(started, entry("1", "assistant", said.join("\n")));
  expect(started.decisions).toEqual(["Kept: the lock stays instead of the queue."]);
  expect(started.figures).toEqual([]);
});

test("stays within every limit, and drops the oldest first", () => {
  for (let limit = 0; limit < 400; limit++) {
    expect(Buffer.byteLength(renderHandover(handover(), limit))).toBeLessThanOrEqual(limit);
  }
  expect(renderHandover(handover(), 50)).toBe("## Asked\n- Never touch the lock file.");
  expect(renderHandover(startHandover(), 1_000)).toBe("");
});
