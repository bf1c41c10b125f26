import { expect, test } from "vitest";
import { outline } from "../../../test/support/reading.ts";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";

const FILE = fixture("atif/trajectory.json");

test("a trajectory is the conversation of its agent", async () => {
  const { source, sessions, problems } = await readWhole(FILE, { path: "/logs/trajectory.json" });
  expect(source).toBe("atif");
  expect(sessions[0]?.session).toMatchObject({
    id: "run-1",
    agent: "terminus-2",
    startedAt: Date.UTC(2026, 4, 4, 10),
  });
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries)).toEqual([
    "step-1 system: You are …",
    "step-2 user: [image] Why does the cron job run twice?",
    "step-3 assistant: [thinking] [bash] [bash] I look.",
    "step-3/results tool: [result] [result]",
    "step-4 assistant: The lock is gone.",
  ]);
  expect(entries[0]?.metadata).toMatchObject({ injected: true });
  expect(entries[2]).toMatchObject({
    model: "m-2",
    cost: 0.25,
    usage: { inputTokens: 300, outputTokens: 80, cacheReadTokens: 200, cacheCreationTokens: 20 },
  });
  expect(entries[4]).toMatchObject({ model: "m-1", usage: null });
  expect(problems).toEqual([]);
});

test("nested sub-agents are sessions of their own, and a step without a source is reported", async () => {
  const whole = JSON.parse(FILE);
  const child = { ...whole, trajectory_id: "traj-2", steps: whole.steps.slice(3) };
  whole.subagent_trajectories = [child, 7];
  whole.steps.push({ step_id: 5, source: "oracle", message: "?" });
  const { sessions, problems } = await readWhole(JSON.stringify(whole));
  expect(sessions[1]?.session).toMatchObject({ id: "run-1/traj-2", parentSession: "run-1" });
  expect(outline(sessions[1]?.entries ?? [])).toEqual(["step-4 assistant: The lock is gone."]);
  expect(problems.map(({ code }) => code)).toEqual(["unexpected", "unexpected"]);
});
