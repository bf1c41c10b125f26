import { expect, test } from "vitest";
import type { Block } from "../../model/block.ts";
import { SAMPLE_ENTRY } from "../../model/entry.cases.ts";
import type { Entry } from "../../model/entry.ts";
import { showBlocks, showMessage, toBlockViews, toMessageView } from "./message.ts";

const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;

const ENTRY: Entry = {
  ...SAMPLE_ENTRY,
  role: "assistant",
  actor: "coder",
  index: 3,
  model: "m",
};

const BLOCKS: Block[] = [
  { type: "text", text: "Look." },
  { type: "thinking", text: "Hm.", signature: "s".repeat(500) },
  { type: "tool_use", id: "t1", name: "bash", input: '{"command":"ls"}' },
  {
    type: "tool_result",
    toolUseId: "t1",
    toolName: "bash",
    isError: false,
    output: [{ type: "text", text: "a.ts" }],
  },
  { type: "image", mediaType: "image/png", data: "A".repeat(500) },
  { type: "opaque", json: "{}" },
];

test("a message shows its readable parts", () => {
  const view = toMessageView({ ...ENTRY, blocks: BLOCKS }, 1_000);
  expect(view).toMatchObject({ entry_id: "e1", msg_idx: 3, actor: "coder", truncated: false });
  expect(JSON.stringify(view)).not.toMatch(/sss|AAA/);
  expect(showBlocks(view.blocks)).toBe(
    [
      "Look.",
      "(thinking) Hm.",
      '→ bash {"command":"ls"}',
      "← bash a.ts",
      "(image image/png)",
      "(opaque)",
    ].join("\n"),
  );
});

test("text beyond the size is left out, with a note", () => {
  const view = toMessageView({ ...ENTRY, blocks: BLOCKS }, 12);
  expect(view.blocks).toEqual([
    { type: "text", text: "Look." },
    { type: "thinking", text: "Hm." },
    { type: "tool_use", id: "t1", name: "bash", input: "{…" },
  ]);
  expect(view.truncated).toBe(true);
  const style = { agent: "coder", project: undefined };
  expect(showMessage({ ...ENTRY, blocks: BLOCKS }, { ...style, bytes: 12 })).toBe(
    "#3 assistant: Look.\n(thinking) Hm.\n→ bash {…\n(cut: message_bytes shows more)",
  );
  // In the short form a call is a line, and thinking is left out.
  expect(showMessage({ ...ENTRY, blocks: BLOCKS }, style)).toBe(
    "#3 assistant: Look.\n→ bash ls\n← bash a.ts\n(image)",
  );
});

test("a secret at the cut is masked whole", () => {
  const text = `${"x".repeat(90)} ${SECRET}`;
  const { blocks, truncated } = toBlockViews([{ type: "text", text }], 100);
  expect(JSON.stringify(blocks)).not.toContain("ghp_");
  expect(truncated).toBe(true);
});

test("an erased message shows nothing", () => {
  const style = { agent: "coder", project: undefined };
  expect(showMessage({ ...ENTRY, erased: true }, style)).toContain("(erased)");
});

test("injected text is one line, and typed text beside it stays", () => {
  const style = { agent: "coder", project: undefined };
  const user: Entry = { ...ENTRY, role: "user", actor: null };
  const skill = `Base directory for this skill: /srv/skills/review\n${"rule ".repeat(1_000)}`;
  const shown = showMessage({ ...user, blocks: [{ type: "text", text: skill }] }, style);
  expect(shown).toMatch(/^#3 user: \(injected by the client\) Base directory for this skill: .*…$/);
  expect(shown.length).toBeLessThan(200);
  const typed = "<system-reminder>be brief</system-reminder>Why twice?";
  expect(showMessage({ ...user, blocks: [{ type: "text", text: typed }] }, style)).toBe(
    "#3 user: Why twice?",
  );
});
