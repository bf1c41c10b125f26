import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { AIDER } from "./aider.ts";

const HISTORY = fixture("aider/history.txt");
const PATH = "/srv/shop/.aider.chat.history.md";

describe("a history of Aider", () => {
  test("has a session for each start of the program", async () => {
    const { sessions, problems } = await readWith(AIDER, HISTORY, { path: PATH });
    expect(sessions.map(({ session }) => [session.id, session.cwd, session.startedAt])).toEqual([
      [
        expect.stringMatching(/^20250304101112-[0-9a-f]{8}$/),
        "/srv/shop",
        at(2025, 2, 4, 10, 11, 12),
      ],
      [expect.stringMatching(/^20250305080000-[0-9a-f]{8}$/), "/srv/shop", at(2025, 2, 5, 8, 0, 0)],
      [
        expect.stringMatching(/^20250305080000-[0-9a-f]{8}-2$/),
        "/srv/shop",
        at(2025, 2, 5, 8, 0, 0),
      ],
    ]);
    expect(problems).toEqual([]);
  });

  test("separates typed, answered and printed text", async () => {
    const { sessions } = await readWith(AIDER, HISTORY, { path: PATH });
    const [first, second, third] = sessions.map(({ entries }) => outline(entries));
    expect(first).toEqual([
      expect.stringMatching(/^message-0 custom: \/usr\/bin\/aider --model large-4\nAider/),
      "message-1 user: Add a retry\nto the client.",
      "message-2 assistant: I add a retry:\n\n```ts\n#### not a header of theirs, but it looks like one\nawait retry();\n```",
      expect.stringMatching(/^message-3 custom: Tokens: 2.3k sent/),
      "message-4 user: /quit",
    ]);
    expect(second).toEqual(["message-0 custom: Aider v0.75.1"]);
    expect(third).toEqual(["message-0 user: Again?", "message-1 assistant: Yes."]);
    expect(sessions[0]?.entries.map(({ model }) => model)).toEqual([
      null,
      null,
      "large-4",
      null,
      null,
    ]);
  });

  test("with trimmed line ends is read by its marks alone", async () => {
    const { sessions } = await readWith(AIDER, HISTORY.replace(/ {2}$/gm, ""), { path: PATH });
    expect(outline(sessions[0]?.entries ?? []).slice(1, 4)).toEqual([
      "message-1 user: Add a retry\nto the client.",
      "message-2 assistant: I add a retry:\n\n```ts",
      "message-3 user: not a header of theirs, but it looks like one",
    ]);
  });

  test("in another folder belongs to another project", async () => {
    const here = await readWith(AIDER, HISTORY, { path: PATH });
    const there = await readWith(AIDER, HISTORY, { path: "/srv/b/.aider.chat.history.md" });
    expect(there.sessions[0]?.session.id).not.toBe(here.sessions[0]?.session.id);
  });

  test("with text before its first start, or empty, is reported", async () => {
    const { sessions, problems } = await readWith(AIDER, `Hello.\n${HISTORY}`);
    expect([sessions.length, problems.map(({ code }) => code)]).toEqual([3, ["missing_header"]]);
    expect((await readWith(AIDER, "")).sessions).toEqual([]);
  });

  test("with an unfinished answer keeps its head, and continues after it", async () => {
    const answer = `${"y".repeat(1023)}\n`.repeat(9 * 1024);
    const text = `# aider chat started at 2025-03-04 10:11:12\n\n#### Go.  \n${answer}\n#### Stop.  \n`;
    const { sessions, problems } = await readWith(AIDER, text, { path: PATH });
    const [go, said, stop] = sessions[0]?.entries ?? [];
    expect(outline([go, stop].filter((entry) => entry !== undefined))).toEqual([
      "message-0 user: Go.",
      "message-2 user: Stop.",
    ]);
    const kept = said?.blocks[0]?.type === "text" ? said.blocks[0].text : "";
    expect(kept.slice(0, 2048)).toBe(answer.slice(0, 2048));
    expect(kept.length).toBeLessThan(1024 * 1024 + 40);
    expect(kept.slice(-40)).toMatch(/y\n\[cut: 8388608 more characters\]$/);
    expect(problems).toMatchObject([{ line: 4, code: "entry_cut" }]);
  });

  test("skips entries that no reader consumes", async () => {
    const { sessions } = AIDER.read({ path: PATH, lines: lines(HISTORY) });
    const ids = [];
    for await (const { id } of sessions) ids.push(id);
    expect(ids).toHaveLength(3);
  });

  test("is found at the path in the environment variable", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    expect(AIDER.places?.(environment)).toEqual([]);
    const named = { ...environment, variables: { AIDER_CHAT_HISTORY_FILE: "~/chat.md" } };
    expect(AIDER.places?.(named)).toMatchObject([{ root: "/home/ana/chat.md" }]);
  });
});

function at(...parts: [number, number, number, number, number, number]): number {
  return new Date(...parts).getTime();
}

async function* lines(text: string) {
  for (const [i, line] of text.split("\n").entries()) {
    yield { number: i + 1, offset: 0, text: line, ended: true };
  }
}
