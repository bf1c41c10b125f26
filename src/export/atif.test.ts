import { expect, test } from "vitest";
import { exportText, fixture, importText } from "../../test/support/transcripts.ts";
import type { Entry } from "../model/entry.ts";
import { open } from "../open.ts";

const plain = (entries: readonly Entry[]) =>
  entries.map(({ kind, role, blocks, usage, createdAt, model }) => ({
    kind,
    role,
    blocks,
    usage,
    createdAt,
    model,
  }));

test("a trajectory is written as it was read", async () => {
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, fixture("atif/trajectory.json"));
  const { text, losses } = await exportText(handle, "atif");
  expect(JSON.parse(text)).toEqual(JSON.parse(fixture("atif/trajectory.json")));
  expect(losses).toEqual({});
});

test("our own session round-trips with its calls, failures, tokens and title", async () => {
  await using engine = await open(":memory:");
  await using other = await open(":memory:");
  const session = await engine.createSession({ agent: "a", createdBy: "ana", title: "Cron" });
  const say = (text: string) => [{ type: "text" as const, text }];
  await session.append({ role: "user", content: say("Why?") });
  const input = '{"job":9007199254740993}';
  const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 3, cacheCreationTokens: 1 };
  await session.append({
    role: "assistant",
    actor: "a",
    model: "m-1",
    usage,
    content: [...say("I look."), { type: "tool_use", id: "k1", name: "ls", input }],
  });
  const result = { type: "tool_result" as const, toolUseId: "k1", toolName: "ls" };
  await session.append({
    role: "tool",
    actor: "ls",
    content: [{ ...result, output: "no", isError: true }],
  });
  await session.append({ role: "assistant", actor: "a", model: "m-1", content: say("Gone.") });
  const { text, losses } = await exportText(session, "atif");
  expect(JSON.parse(text)).toMatchObject({
    schema_version: "ATIF-v1.4",
    agent: { name: "a", version: "unknown" },
    extra: { backscroll: { title: "Cron" } },
    steps: [
      { step_id: 1 },
      { step_id: 2, observation: { results: [{ source_call_id: "k1" }] } },
      {},
    ],
    final_metrics: { total_prompt_tokens: 9, total_cached_tokens: 3, total_steps: 3 },
  });
  expect(text).toContain('{"job":9007199254740993}');
  expect(losses).toEqual({});
  const { handle } = await importText(other, text);
  const read = async (of: typeof session) => (await of.listEntries({ limit: 50 })).entries;
  expect(plain(await read(handle))).toEqual(plain(await read(session)));
  expect((await handle.meta()).title).toBe("Cron");
  // Written once more, it is the same file.
  expect(JSON.parse((await exportText(handle, "atif")).text)).toEqual(JSON.parse(text));
});

test("a summary round-trips, and losses are counted", async () => {
  await using engine = await open(":memory:");
  await using other = await open(":memory:");
  const first = await importText(engine, fixture("openhands/events.jsonl"), { path: "/a.jsonl" });
  const { text, losses } = await exportText(first.handle, "atif");
  expect(losses).toMatchObject({ images: 1, "signatures of thoughts": 1, "custom entries": 1 });
  const { handle } = await importText(other, text);
  const { entries } = await handle.listEntries({ limit: 50 });
  const summary = entries.find(({ kind }) => kind === "compaction");
  expect(summary?.blocks).toEqual([{ type: "text", text: "They found a lock." }]);
});
