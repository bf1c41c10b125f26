import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CODEX } from "./codex.ts";
import { skimEvent } from "./codex-items.ts";

const PAGINATED = fixture("codex/paginated.jsonl");
const OLDEST = fixture("codex/oldest.json");

describe("a file of a version that writes every item twice", () => {
  test("has each item once, and content that only events have", async () => {
    const { sessions, problems } = await readWith(CODEX, PAGINATED, { path: "/rollout-a.jsonl" });
    const entries = sessions[0]?.entries ?? [];
    expect(outline(entries).map((line) => line.replace(/^record-(\d+)\S*/, "$1"))).toEqual([
      "3 model_change:",
      "4 user: How long is the list?",
      "6 assistant: [thinking] [opaque]",
      "8 assistant: [exec_command]",
      "9 tool: [result]",
      "13 assistant: Seven lines.",
      "15 custom:",
    ]);
    expect(entries[6]?.data).toMatchObject({
      type: "codex:item_completed",
      data: { item: { type: "Plan", id: "p1" } },
    });
    expect(entries[3]?.usage).toMatchObject({ inputTokens: 60, outputTokens: 9 });
    expect(problems).toEqual([]);
  });

  test("counts skipped records", async () => {
    const transcript = CODEX.read({
      path: "/rollout-a.jsonl",
      lines: (async function* () {
        for (const [i, text] of PAGINATED.trimEnd().split("\n").entries()) {
          yield { number: i + 1, offset: 0, text, ended: true };
        }
      })(),
    });
    for await (const session of transcript.sessions) for await (const _ of session.entries);
    expect(transcript.problems.ignored).toEqual(
      new Map([
        ["event_msg:task_started", 1],
        ["turn_context", 1],
        ["event_msg:item_completed", 4],
        ["token_usage_record", 1],
        ["event_msg:task_complete", 1],
      ]),
    );
  });

  test("is read from its events if it has no items", async () => {
    const copies = PAGINATED.split("\n").filter((line) => !line.includes('"response_item"'));
    const { sessions } = await readWith(CODEX, copies.join("\n"), { path: "/rollout-a.jsonl" });
    const said = (sessions[0]?.entries ?? []).filter(({ kind }) => kind === "message");
    expect(outline(said).map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "user: How long is the list?",
      "assistant: Seven lines.",
    ]);
  });
});

test.each([
  ["task_started", "a turn begins"],
  ["token_count", "the usage of a call"],
  ["weather", "an unknown event"],
])("an event of the type %s is read: %s", (type) => {
  const line = { timestamp: "t", type: "event_msg", payload: { type } };
  expect(skimEvent(JSON.stringify(line))).toBeUndefined();
});

test("a truncated line is not skipped", () => {
  const line = '{"timestamp":"t","type":"event_msg","payload":{"type":"agent_message","mess';
  expect(skimEvent(line)).toBeUndefined();
  expect(skimEvent(`${line}age":"x"}}`)).toEqual({
    type: "event_msg",
    payload: { type: "agent_message" },
  });
});

describe("a file that is one object", () => {
  const path = "/sessions/rollout-2025-04-17-0b7a4a1e.json";

  test("has its items in their order", async () => {
    const { sessions, problems, state } = await readWith(CODEX, OLDEST, { path });
    expect(sessions[0]?.session).toMatchObject({
      id: "0b7a4a1e-0000-4000-8000-000000000002",
      startedAt: Date.UTC(2025, 3, 17, 9),
    });
    expect(outline(sessions[0]?.entries ?? [])).toEqual([
      "record-2<null user: What is in the folder?",
      "record-3<record-2 assistant: [opaque]",
      "record-4<record-3 assistant: [shell]",
      "record-5<record-4 tool: [result]",
      "record-6<record-5 assistant: One file.",
    ]);
    expect(problems).toEqual([]);
    // It is rewritten each time, so it cannot be resumed.
    expect(state).toBeUndefined();
  });

  test("is found and recognised", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const [place] = CODEX.places?.(environment) ?? [];
    expect(place?.matches("rollout-2025-04-17-0b7a4a1e.json")).toBe(true);
    expect(CODEX.recognise(Buffer.from(OLDEST), path)).toBe(true);
    expect(CODEX.recognise(Buffer.from('{"session":{"id":"x"}}'), "/x.json")).toBe(false);
  });

  test("is recognised under any name and author", async () => {
    const parsed = JSON.parse(OLDEST) as { session: object; items: object[] };
    const texts = [
      OLDEST,
      JSON.stringify(parsed),
      `\n\n${JSON.stringify(parsed, null, 2)}`,
      JSON.stringify({ items: parsed.items, session: parsed.session }),
    ];
    for (const text of texts) {
      const { sessions, problems } = await readWith(CODEX, text, { path: "/r/old.jsonl" });
      expect(sessions[0]?.entries).toHaveLength(5);
      expect(problems).toEqual([]);
    }
  });

  test("is recognised by its name if its instructions are long", () => {
    const head = Buffer.from(`{"session":{"id":"x","instructions":"${"x".repeat(65_000)}`);
    expect(CODEX.recognise(head, path)).toBe(true);
    expect(CODEX.recognise(head, "/x/other.json")).toBe(false);
  });

  test("gets its id from its name if it has none", async () => {
    const text = '{"session":{},"items":[]}';
    const { sessions } = await readWith(CODEX, text, { path: "/r/copy.json" });
    expect(sessions[0]?.session.id).toBe("copy");
  });

  test.each(["{", "[]", '{"session":{},"items":3}', ""])(
    "that is %j gives nothing",
    async (text) => {
      const { sessions, problems } = await readWith(CODEX, text, { path });
      expect(sessions.flatMap(({ entries }) => entries)).toEqual([]);
      expect(problems.length).toBeLessThanOrEqual(1);
    },
  );
});

test("lines are read as lines, also in a file named like an object", async () => {
  const path = "/r/copy.json";
  const lines = PAGINATED.trimEnd().split("\n");
  const first = await readWith(CODEX, `${lines.slice(0, 8).join("\n")}\n`, { path });
  const resume = first.state ?? {};
  const rest = `${lines.slice(8).join("\n")}\n`;
  const later = await readWith(CODEX, rest, { path, linesBefore: 8, resume });
  const whole = await readWith(CODEX, PAGINATED, { path });
  const said = ({ sessions }: typeof whole) =>
    (sessions[0]?.entries ?? []).filter(({ kind }) => kind === "message").length;
  expect([said(first), said(later)]).toEqual([3, 2]);
  expect([said(whole), whole.problems]).toEqual([5, []]);
});
