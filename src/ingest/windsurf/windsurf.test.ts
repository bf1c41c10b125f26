import { expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { WINDSURF } from "./windsurf.ts";

const STEPS = fixture("windsurf/traj-1.jsonl");
const path = "/home/ana/.windsurf/transcripts/traj-1.jsonl";

const said = (lines: readonly string[]) => lines.map((line) => line.replace(/^\S+ /, ""));

test("a transcript of Windsurf is a session in the folder of its commands", async () => {
  const { sessions } = await readWith(WINDSURF, STEPS, { path });
  expect(sessions[0]?.session).toMatchObject({
    id: "traj-1",
    source: "windsurf",
    cwd: "/srv/shop",
  });
});

test("has every request, answer, step and outcome", async () => {
  const { sessions, problems } = await readWith(WINDSURF, STEPS, { path });
  const entries = sessions[0]?.entries ?? [];
  expect(said(outline(entries))).toEqual([
    "user: Why does @[job.sh] run twice?",
    "assistant: I look.",
    "assistant: [view_file]",
    "tool: [result]",
    "assistant: [run_command]",
    "tool: [failed]",
    "assistant: [code_action]",
    "tool: [result]",
    "assistant: [list_directory]",
    "assistant: The lock was of one machine.",
    "user: Thanks.",
    "custom:",
  ]);
  const lines = STEPS.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const steps = lines.filter(
    ({ type }) => !/^(user_input|planner_response|later_step)$/.test(type),
  );
  const blocks = entries.flatMap((entry) => entry.blocks);
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  expect(calls.map(({ name }) => name)).toEqual(steps.map(({ type }) => type));
  expect(JSON.parse(String(calls[2]?.input))).toEqual({
    new_content: lines[4].code_action.new_content,
    original_content: lines[4].code_action.original_content,
    path: lines[4].code_action.path,
  });
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  expect(results.map(({ output }) => output)).toEqual([
    lines[2].view_file.content,
    lines[3].run_command.output,
    '{"acknowledgement_type":"ACKNOWLEDGEMENT_TYPE_ACCEPT"}',
  ]);
  expect(problems.map(({ code, line }) => [code, line])).toEqual([["unexpected", 9]]);
});

test("that grows has the same ids for the same steps", async () => {
  const whole = await readWith(WINDSURF, STEPS, { path });
  const half = await readWith(WINDSURF, STEPS.split("\n").slice(0, 4).join("\n"), { path });
  const ids = (reading: typeof whole) =>
    reading.sessions[0]?.entries.map(({ sourceId }) => sourceId);
  expect(ids(whole)?.slice(0, 6)).toEqual(ids(half));
});
