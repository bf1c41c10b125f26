import { expect, onTestFinished, test } from "vitest";
import type { SearchResult } from "../engine/search.ts";
import { formatHit } from "./print-hit.ts";
import { Terminal } from "./terminal.ts";

/** A terminal as somebody at a keyboard, or a program behind a pipe, has it. */
function terminal(isTTY: boolean): Terminal {
  const { isTTY: before } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  onTestFinished(() => {
    process.stdout.isTTY = before;
    Object.assign(process.env, { ...(NO_COLOR && { NO_COLOR }), ...(TERM && { TERM }) });
  });
  process.stdout.isTTY = isTTY;
  delete process.env["NO_COLOR"];
  process.env["TERM"] = "xterm";
  return new Terminal();
}

const item = { actor: "ana", createdAt: 0, truncated: false, toolName: null };
const hit: SearchResult["hits"][number] = {
  sessionId: "s\u001b[1m",
  meta: {
    ...{ title: "Cron\nruns", agent: "co\u0007der", createdAt: 0, updatedAt: 0 },
    messageCount: 2,
  },
  ...{ entryId: "e", index: 1, leaf: "e", score: 1.5 },
  window: [
    {
      ...{ ...item, entryId: "d", index: 0, role: "user", matches: [], found: false },
      snippet: "one\ntwo\nthree",
    },
    {
      ...{ ...item, entryId: "e", index: 1, role: "assistant", found: true },
      snippet: "the \u001b[31mlock\u001b[0m is \u202egone",
      matches: [{ start: 9, end: 13 }],
    },
  ],
  parts: { message: 1, neighbours: 0.25, session: 0.25, boost: 0, coverage: 0 },
};

test("marks what was found on a terminal", () => {
  const text = formatHit(hit, terminal(true)).join("\n");
  expect(text).toContain("\u001b[1;33mlock\u001b[22;39m");
  expect(text).toContain("␛[31m");
});

test("has no colours behind a pipe, and shows control characters there too", () => {
  expect(formatHit(hit, terminal(false))).toEqual([
    expect.stringMatching(/^s␛\[1m {2}Cron runs {2}co␇der · \S+ \S+ · score 1\.50$/),
    "  message 1.000 + neighbours 0.250 + session 0.250 + boost 0.000 + coverage 0.000",
    "  #0 user · ana",
    "    one",
    "    two",
    "    …",
    "▸ #1 assistant · ana",
    "    the ␛[31mlock␛[0m is \\u202egone",
  ]);
});
