import { describe, expect, test } from "vitest";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import { textOf } from "../../model/block.ts";

async function read(content: string) {
  const { sessions, problems } = await readWhole(content, { path: "/sessions/a.json" });
  const [only] = sessions;
  return { ...only, entries: only?.entries ?? [], problems };
}

/** One line per entry. */
function outline(entries: Awaited<ReturnType<typeof read>>["entries"]): string[] {
  return entries.map(
    ({ sourceId, kind, role, blocks }) => `${sourceId} ${role ?? kind}: ${textOf(blocks)}`,
  );
}

function lines(...records: object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

const META = {
  type: "session_meta",
  version: 1,
  session_id: "session-1764759600000-1",
  created_at_ms: 1764759600000,
  updated_at_ms: 1764763200000,
};

function said(role: string, text: string): object {
  return { type: "message", message: { role, blocks: [{ type: "text", text }] } };
}

describe("version 1, one object", () => {
  test("reads the example of its documents", async () => {
    const { session, entries, problems } = await read(fixture("claw-code/version-1.json"));
    expect(session).toMatchObject({ source: "claw-code", id: null, cwd: null, startedAt: null });
    expect(outline(entries)).toEqual(["message-0 user: Hello", "message-1 assistant: Hi there!"]);
    expect(entries.map(({ usage }) => usage)).toEqual([
      null,
      { inputTokens: 10, outputTokens: 4, cacheCreationTokens: 0, cacheReadTokens: 0 },
    ]);
    expect(problems).toEqual([]);
  });

  test.each([2, "2", null])("version %j is read, reported and kept", async (version) => {
    const whole = JSON.parse(fixture("claw-code/version-1.json")) as object;
    const { session, entries, problems } = await read(JSON.stringify({ ...whole, version }));
    expect(outline(entries)).toEqual(["message-0 user: Hello", "message-1 assistant: Hi there!"]);
    const told = `version ${JSON.stringify(version)} was read as version 1`;
    expect(problems).toEqual([{ code: "unexpected", message: told }]);
    expect(session?.metadata).toMatchObject({ source: { fields: { version } } });
    const log = await read(lines({ ...META, version }, said("user", "Hello")));
    expect(log.problems).toEqual([{ code: "unexpected", message: told, line: 1 }]);
    expect((await read(lines(META, said("user", "Hello")))).problems).toEqual([]);
  });

  test("identifies a session without id and file by its content", async () => {
    const { sessions } = await readWhole(fixture("claw-code/version-1.json"));
    expect(sessions[0]?.session.id).toMatch(/^sha256-[0-9a-f]{32}$/);
  });

  test("keeps arguments, signatures and lone surrogates byte for byte", async () => {
    const { session, entries, problems } = await read(fixture("claw-code/tools.json"));
    expect(session).toMatchObject({
      id: "session-1764759600000-0",
      cwd: "/srv/shop",
      startedAt: 1764759600000,
      parentSession: "session-1764750000000-3",
    });
    expect(entries[1]?.blocks).toEqual([
      { type: "thinking", text: "Look it up.", signature: "c2lnbg==" },
      { type: "text", text: "I look it up." },
      { type: "tool_use", id: "call-1", name: "orders", input: '{"id": 9007199254740993}' },
      { type: "tool_use", id: "call-2", name: "bash", input: '{"command":"ls -l"' },
    ]);
    expect(entries[2]).toMatchObject({
      role: "tool",
      actor: "orders",
      createdAt: 1764759900000,
      blocks: [{ toolUseId: "call-1", output: "half a pair: \ud83d", isError: false }],
    });
    expect(entries[4]?.metadata).toEqual({
      source: {
        format: "claw-code",
        id: null,
        fields: { incomplete: true, incomplete_reason: "max_tokens" },
      },
    });
    expect(entries[5]?.blocks).toEqual([
      { type: "opaque", provider: "claw-code", json: '{"type":"sketch","strokes":[1,2]}' },
    ]);
    expect(problems).toEqual([]);
  });

  test("reports a truncated file, and gives no session", async () => {
    const { sessions, problems } = await readWhole('{\n "version": 1,\n "messages": [\n{"role":', {
      path: "/sessions/a.json",
    });
    expect(sessions).toEqual([]);
    expect(problems).toMatchObject([{ code: "not_json" }]);
  });
});

describe("JSON lines", () => {
  test("makes a compaction of the record and the continuation, whatever its text", async () => {
    const { entries, problems } = await read(fixture("claw-code/compacted.jsonl"));
    expect(outline(entries)).toEqual([
      "prompt-0 custom: ",
      "message-3 assistant: The lock is never released.",
      expect.stringContaining("compaction-1 compaction: <summary>"),
      "message-4 user: Then release it.",
    ]);
    expect(entries[2]?.data).toMatchObject({
      firstKeptEntryId: "message-3",
      count: 1,
      removedMessages: 3,
      continuation: expect.stringMatching(/^Continued/),
    });
    expect(entries[1]?.model).toBe("claw-large");
    expect(problems).toEqual([]);
  });

  test("keeps a system message when no record marks it as a continuation", async () => {
    const text = "This session is being continued from a previous conversation that ran out of";
    const { entries } = await read(lines(META, said("system", text), said("user", "Go on.")));
    expect(outline(entries)).toEqual([`message-0 system: ${text}`, "message-1 user: Go on."]);
  });

  test("gives a compaction also without kept messages or a continuation", async () => {
    const record = { type: "compaction", count: 1, removed_message_count: 2, summary: "S" };
    const alone = await read(lines(META, record, said("system", "Continued.")));
    expect(outline(alone.entries)).toEqual(["compaction-1 compaction: S"]);
    const without = await read(lines(META, record, said("user", "a"), said("user", "b")));
    expect(outline(without.entries)).toEqual([
      "message-2 user: a",
      "compaction-1 compaction: S",
      "message-3 user: b",
    ]);
  });

  test("counts each bad line with its number and reads on", async () => {
    const content = [
      lines(META),
      "{broken\n",
      lines({ type: "telemetry" }, { type: "message", message: { role: "robot", blocks: [] } }),
      "[1]\n\n",
      lines({ type: "message", message: { role: "user" } }, said("user", "still here")),
      '{"type":"message","mess',
    ].join("");
    const { entries, problems } = await read(content);
    expect(outline(entries)).toEqual(["message-2 user: still here"]);
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [2, "not_json"],
      [3, "unexpected"],
      [4, "unexpected"],
      [5, "unexpected"],
      [7, "unexpected"],
      [9, "torn_line"],
    ]);
  });

  test("reads a file whose first line is damaged", async () => {
    const { sessions, problems } = await readWhole(`{"type":\n${lines(said("user", "a"))}`, {
      source: "claw-code",
    });
    expect(sessions[0]?.entries.map(({ sourceId }) => sourceId)).toEqual(["message-0"]);
    expect(problems.map(({ code }) => code)).toEqual(["not_json", "missing_header"]);
  });
});
