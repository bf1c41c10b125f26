import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { KIMI } from "./kimi.ts";

const FILE = fixture("kimi/context.jsonl");
const ID = "0c9d6f0e-6a51-4f0c-9e6b-2b1a7a1f0001";
const PATH = `/home/ana/.kimi/sessions/9f86d081884c7d65/${ID}/context.jsonl`;

test("a session of Kimi CLI is a conversation, without its markers", async () => {
  const { sessions, problems, ignored } = await readWith(KIMI, `${FILE}{"role":"odd"}\n`, {
    path: PATH,
  });
  const entries = sessions[0]?.entries ?? [];
  expect(sessions[0]?.session).toMatchObject({ source: "kimi", id: ID });
  expect(outline(entries).map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "user: <system>CHECKPOINT 0</system>",
    "user: Why does the cron job run twice?",
    "assistant: [thinking] [Shell] I look.",
    "tool: [result]",
    "assistant: The lock is gone.",
    "custom:",
  ]);
  expect(entries[0]?.metadata).toMatchObject({ injected: true });
  expect(entries[3]).toMatchObject({ actor: "Shell", blocks: [{ output: "cron.lock" }] });
  expect(problems).toMatchObject([{ line: 9, code: "unexpected" }]);
  expect([...ignored]).toEqual([
    ["_system_prompt", 1],
    ["_checkpoint", 1],
    ["_usage", 1],
  ]);
  // A system prompt added in front changes no id.
  const later = await readWith(KIMI, FILE.split("\n").slice(1).join("\n"), { path: PATH });
  expect(later.sessions[0]?.entries.map(({ sourceId }) => sourceId)).toEqual(
    entries.slice(0, 5).map(({ sourceId }) => sourceId),
  );
});
