import { expect, test } from "vitest";
import { readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CLAUDE_CODE } from "./claude-code.ts";

const FILE = fixture("claude-code/persisted.jsonl");
const SESSION = "5e55a000-0000-4000-8000-000000000003";
const PREVIEW = "<persisted-output>\nOutput too large. Preview:\nfirst line\n</persisted-output>";

async function outputs(path: string, files: Record<string, string>): Promise<unknown[]> {
  const { sessions } = await readWith(CLAUDE_CODE, FILE, { path, files });
  return (sessions[0]?.entries ?? []).flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.output] : [])),
  );
}

test("an output that lies beside the transcript is put where it belongs", async () => {
  const found = await outputs(`/p/${SESSION}.jsonl`, {
    [`${SESSION}/tool-results/b1.txt`]: "first line\nsecond line\n",
    [`${SESSION}/tool-results/toolu_2.json`]: '[{"type":"text","text":"from JSON"}]',
    // Named by a path outside: it is not looked for.
    [`${SESSION}/tool-results/passwords.txt`]: "secret",
  });
  expect(found).toEqual(["first line\nsecond line\n", "from JSON", PREVIEW]);
});

test("the order stays, whatever lies apart", async () => {
  const files = { [`${SESSION}/tool-results/b1.txt`]: "x" };
  const { sessions } = await readWith(CLAUDE_CODE, FILE, { path: `/p/${SESSION}.jsonl`, files });
  expect(sessions[0]?.entries.map(({ sourceId }) => sourceId)).toEqual([
    ...["u1", "a2", "r3", "a4", "r5", "a6", "r7"],
  ]);
});

test("what is not there any more is shown as the model saw it", async () => {
  expect(await outputs(`/p/${SESSION}.jsonl`, {})).toEqual([PREVIEW, PREVIEW, PREVIEW]);
});

test("sub-agents' outputs lie in the folder of their session", async () => {
  const files = { "../tool-results/b1.txt": "from the session" };
  const [first] = await outputs(`/p/${SESSION}/subagents/agent-a1.jsonl`, files);
  expect(first).toBe("from the session");
});
