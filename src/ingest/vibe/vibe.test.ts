import { expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { VIBE } from "./vibe.ts";

const MESSAGES = fixture("vibe/messages.jsonl");
const META = {
  session_id: "8b1e0c52-aaaa-4bbb-8ccc-123456789abc",
  parent_session_id: "7a0d",
  start_time: "2026-06-13T10:00:00+00:00",
  git_branch: "main",
  environment: { working_directory: "/srv/shop" },
  config: { active_model: "mistral-medium-3.5" },
  title: "Cron runs twice",
  stats: { session_prompt_tokens: 100, session_completion_tokens: 50 },
  tools_available: [{ type: "function" }],
};
const PATH = "/home/ana/.vibe/logs/session/session_20260613_100000_8b1e0c52/messages.jsonl";
const files = { "meta.json": JSON.stringify(META) };

test("a session of Vibe has its folder, branch, title, parent, model and tokens", async () => {
  const { sessions } = await readWith(VIBE, MESSAGES, { path: PATH, files });
  expect(sessions[0]?.session).toMatchObject({
    id: META.session_id,
    cwd: "/srv/shop",
    gitBranch: "main",
    title: "Cron runs twice",
    parentSession: "7a0d",
    startedAt: Date.UTC(2026, 5, 13, 10),
    metadata: { source: { fields: { stats: META.stats } } },
  });
  const models = sessions[0]?.entries.map(({ model }) => model).filter((model) => model !== null);
  expect(models).toEqual(["mistral-medium-3.5", "devstral-2"]);
});

test("has every message, thought, call and result", async () => {
  const { sessions, problems } = await readWith(VIBE, MESSAGES, { path: PATH, files });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual([
    "m-1 user: Why does the cron job run twice?",
    "m-2 assistant: [thinking] [read_file] [bash] I read the job.",
    "result-c-1 tool: [result]",
    "result-c-2 tool: [result]",
    "m-3 user: The plan mode is on.",
    "m-4 assistant: The lock is of one machine.",
    "m-5 custom:",
    "m-6 user: [opaque] Thanks.",
  ]);
  const lines = MESSAGES.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries).toHaveLength(lines.length);
  const blocks = entries.flatMap((entry) => entry.blocks);
  expect(blocks.flatMap((block) => (block.type === "tool_use" ? [block.input] : []))).toEqual([
    '{"path":"job.sh"}',
    '{"command":"crontab -l"}',
  ]);
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  expect(results.map(({ toolName, output }) => [toolName, output])).toEqual([
    ["read_file", lines[2].content],
    ["bash", lines[3].content],
  ]);
  expect(entries[4]?.metadata["injected"]).toBe(true);
  expect(problems.map(({ code, line }) => [code, line])).toEqual([["unexpected", 7]]);
});

test("that grows is read from where the last reading ended", async () => {
  const whole = await readWith(VIBE, MESSAGES, { path: PATH, files });
  const steps = await readInSteps(VIBE, MESSAGES, { path: PATH, files });
  expect(outline(steps)).toEqual(outline(whole.sessions[0]?.entries ?? []));
});

test("without its description is named after its folder", async () => {
  const { sessions } = await readWith(VIBE, MESSAGES, { path: PATH });
  expect(sessions[0]?.session.id).toBe("session_20260613_100000_8b1e0c52");
});

test("is found where VIBE_HOME says", () => {
  const environment = { home: "/home/ana", variables: { VIBE_HOME: "~/v" }, platform: "linux" };
  const [place] = VIBE.places?.(environment) ?? [];
  expect(place?.root).toBe("/home/ana/v/logs/session");
  expect(place?.matches("session_1/messages.jsonl")).toBe(true);
});
