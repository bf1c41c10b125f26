import { describe, expect, test } from "vitest";
import { exportText, fixture, importText, jsonLines } from "../../test/support/transcripts.ts";
import { open } from "../open.ts";

async function roundTrip(content: string, format: string): Promise<string> {
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, content, { path: "/sessions/a" });
  return (await exportText(handle, format)).text;
}

describe("claw-json", () => {
  test("reproduces its documented example, value by value and key by key", async () => {
    const example = fixture("claw-code/version-1.json");
    const text = await roundTrip(example, "claw-json");
    expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(example)));
  });

  test("reproduces everything that the format holds", async () => {
    const content = fixture("claw-code/tools.json");
    expect(JSON.parse(await roundTrip(content, "claw-json"))).toEqual(JSON.parse(content));
  });

  test("writes an empty session", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ id: "s1", agent: "a", createdBy: "ana" });
    const { text, losses } = await exportText(session, "claw-json");
    expect(JSON.parse(text)).toMatchObject({ version: 1, messages: [], session_id: "s1" });
    expect(losses).toEqual({});
  });
});

describe("claw-jsonl", () => {
  test("reproduces a compacted session, its continuation verbatim", async () => {
    const content = fixture("claw-code/compacted.jsonl");
    expect(jsonLines(await roundTrip(content, "claw-jsonl"))).toEqual(jsonLines(content));
  });

  test("writes all messages on request", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture("pi/version-1.jsonl"));
    const short = await exportText(handle, "claw-jsonl");
    const full = await exportText(handle, "claw-jsonl", { full: true });
    const texts = (text: string) =>
      jsonLines(text).flatMap(({ message }) => {
        const { role, blocks } = (message ?? { blocks: [] }) as {
          role: string;
          blocks: { text: string }[];
        };
        return blocks.map((block) => `${role}: ${block.text}`);
      });
    expect(texts(short.text)).toEqual([
      expect.stringMatching(/^system: This session is being continued .*One was said\..*Recent/s),
      "user: Two",
      "user: Three",
    ]);
    expect(jsonLines(short.text)[1]).toEqual({
      type: "compaction",
      count: 1,
      removed_message_count: 1,
      summary: "One was said.",
    });
    expect(short.losses).toMatchObject({ "summarised messages": 1 });
    expect(texts(full.text)).toEqual(["user: One", "user: Two", "user: Three"]);
    expect(full.losses).toMatchObject({ summaries: 1, "changes of the thinking level": 1 });
  });

  test("another version is written as it was read", async () => {
    await using engine = await open(":memory:");
    const whole = JSON.parse(fixture("claw-code/version-1.json")) as object;
    const input = { ...whole, version: 2 };
    const { handle } = await importText(engine, JSON.stringify(input), { path: "/a" });
    expect(JSON.parse((await exportText(handle, "claw-json")).text)).toEqual(input);
    const [meta = ""] = (await exportText(handle, "claw-jsonl")).text.split("\n");
    expect(JSON.parse(meta)).toMatchObject({ type: "session_meta", version: 2 });
  });

  test("reports losses with counts", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture("pi/version-3.jsonl"));
    const { losses } = await exportText(handle, "claw-jsonl");
    expect(losses).toEqual({
      branches: 1,
      titles: 1,
      "model changes": 1,
      "changes of the thinking level": 1,
      "branch summaries": 1,
      "custom entries": 1,
      "session names": 1,
      "times of messages": 3,
      "actors of messages": 1,
      "metadata of messages": 3,
    });
  });

  test("converts to pi's format and back without unreported losses", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture("claw-code/version-1.json"), {
      path: "/a",
    });
    const { text, losses } = await exportText(handle, "pi-jsonl");
    expect(losses).toEqual({ "actors of messages": 1 });
    const back = await importText(engine, text);
    const { text: again } = await exportText(back.handle, "claw-json");
    const { messages } = JSON.parse(fixture("claw-code/version-1.json")) as { messages: unknown };
    expect(JSON.parse(again)).toMatchObject({ version: 1, messages });
  });
});
