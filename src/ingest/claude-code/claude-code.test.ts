import { describe, expect, test } from "vitest";
import { fixture, importText, readWhole } from "../../../test/support/transcripts.ts";
import { open } from "../../open.ts";
import type { ImportedEntry } from "../source.ts";

const V1 = fixture("claude-code/version-1.jsonl");
const V2 = fixture("claude-code/version-2.jsonl");
const PARENT = "7a9b8c7d-0e1f-4203-9415-26374859607a";

async function read(content: string, path = "/projects/-srv-shop/file.jsonl") {
  const { sessions, problems } = await readWhole(content, { path, source: "claude-code" });
  const [only] = sessions;
  expect(sessions).toHaveLength(1);
  return { session: only?.session, entries: only?.entries ?? [], leaf: only?.leaf, problems };
}

/** Uuids of the fixtures differ in their first part only. */
function short(id: string | null | undefined): string {
  return (id ?? "null").replace(/^0+([0-9a-f]+)-1111-4222-8333-444455556666/, "$1");
}

function byId(entries: readonly ImportedEntry[], id: string): ImportedEntry | undefined {
  return entries.find(({ sourceId }) => short(sourceId) === id);
}

/** `id<parent what` for each entry. */
function shape(entries: readonly ImportedEntry[]): string[] {
  return entries.map(({ sourceId, parentSourceId, kind, role, data }) => {
    const id = short(sourceId).replace(/^note-.*/, "note");
    const what = role ?? (kind === "custom" ? String(data?.["type"]).slice(12) : kind);
    return `${id}<${short(parentSourceId)} ${what}`;
  });
}

function outputs(entries: readonly ImportedEntry[]): Record<string, number> {
  return Object.fromEntries(
    entries.flatMap(({ sourceId, usage }) =>
      usage === null ? [] : [[short(sourceId), usage.outputTokens]],
    ),
  );
}

describe("a file with a sub-agent inside of it", () => {
  test("is one session, with the sub-agent as a branch with its own root", async () => {
    const { session, entries, leaf, problems } = await read(V1);
    expect(session).toMatchObject({
      source: "claude-code",
      agent: "claude-code",
      title: null,
      parentSession: null,
      id: "5d0e3c1a-2b4f-4a6c-8d7e-9f0a1b2c3d4e",
      cwd: "/srv/shop",
      gitBranch: "fix-cron",
      startedAt: Date.UTC(2025, 11, 3, 9, 0, 3),
      metadata: { source: { fields: { version: "1.0.24", userType: "external" } } },
    });
    expect(shape(entries)).toEqual([
      "note<null summary",
      "note<null summary",
      "1<null user",
      "2<1 user",
      "3<2 assistant",
      "4<3 assistant",
      "5<4 tool",
      "title-1-Cron job runs twice<5 session_info",
      "6<5 assistant",
      "7<null user",
      "8<7 assistant",
      "9<8 tool",
      "a<9 assistant",
      "b<6 tool",
      "c<b assistant",
      "d<c user",
      "e<d assistant",
    ]);
    expect(leaf).toBeUndefined();
    expect(problems).toEqual([]);
    const aside = entries.filter(({ metadata }) => metadata["sidechain"] === true);
    expect(aside.map(({ sourceId }) => short(sourceId))).toEqual(["7", "8", "9", "a"]);
  });

  test("ends with the conversation, also when the sub-agent wrote last", async () => {
    const lines = V1.split("\n").slice(0, 12);
    const { entries, leaf } = await read(`${lines.join("\n")}\n`);
    expect(short(entries.at(-1)?.sourceId)).toBe("a");
    expect(short(leaf)).toBe("6");
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, `${lines.join("\n")}\n`);
    const { messages } = await handle.listMessages();
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(await handle.meta()).toMatchObject({ title: "Cron job runs twice" });
  });

  test("counts the usage of an answer once, on its last line", async () => {
    const { entries } = await read(V1);
    expect(outputs(entries)).toEqual({ 4: 40, 6: 25, 8: 12, a: 9, c: 14 });
    expect(byId(entries, "4")?.usage).toEqual({
      inputTokens: 10,
      outputTokens: 40,
      cacheCreationTokens: 5,
      cacheReadTokens: 100,
    });
  });

  test("keeps models, digits and tool names, and marks injected text", async () => {
    const { entries } = await read(V1);
    expect(byId(entries, "4")).toMatchObject({
      model: "claude-sonnet-4-5",
      actor: "claude-code",
      metadata: {
        source: {
          fields: { requestId: "req_1", message: { id: "msg_a", stop_reason: "tool_use" } },
        },
      },
    });
    expect(byId(entries, "8")?.blocks).toMatchObject([
      { input: '{"command":"systemctl list-timers","job":9007199254740993}' },
    ]);
    expect(byId(entries, "5")).toMatchObject({
      actor: "Bash",
      blocks: [{ toolName: "Bash", output: "* * * * * job\n* * * * * job" }],
      metadata: { source: { fields: { toolUseResult: { interrupted: false } } } },
    });
    expect(byId(entries, "b")?.metadata).toMatchObject({
      source: { fields: { toolUseResult: { totalTokens: 412, omitted: ["content"] } } },
    });
    expect(byId(entries, "e")).toMatchObject({ model: null, usage: null });
    const injected = entries.filter(({ metadata }) => metadata["injected"] === true);
    expect(injected.map(({ sourceId }) => short(sourceId))).toEqual(["2", "d"]);
  });
});

describe("a file of version 2", () => {
  test("becomes a tree without progress bars, with every call beside its result", async () => {
    const { session, entries, problems } = await read(V2);
    expect(shape(entries)).toEqual([
      "note<null queue-operation",
      "22<null user",
      "23<22 attachment",
      "24<22 assistant",
      "25<24 assistant",
      "26<25 assistant",
      "27<26 tool",
      "29<27 tool",
      "2a<29 assistant",
      "2b<2a system:turn_duration",
      "2c<2a user",
      "2d<2c user",
      "2e<2d assistant",
      "2f<2a user",
      "30<2f assistant",
      "note<30 ai-title",
      "title-1-Slow checkout<30 session_info",
      "31<30 system:compact_boundary",
      "32<30 compaction",
      "33<32 user",
      "34<33 assistant",
      "35<34 tool",
      "35#2<35 user",
      "36<35#2 weather",
      "note<35#2 last-prompt",
      "note<35#2 custom-title",
      "title-2-Checkout tax<35#2 session_info",
      "note<35#2 ai-title",
      "37<35#2 user",
    ]);
    expect(problems).toEqual([]);
    expect([...(session?.problems.ignored ?? [])]).toEqual([
      ["file-history-snapshot", 1],
      ["progress", 2],
    ]);
    expect(outputs(entries)).toEqual({ 26: 120, "2a": 30, "2e": 11, 30: 13, 34: 8 });
  });

  test("keeps images, thoughts and provider data byte for byte", async () => {
    const { entries } = await read(V2);
    expect(byId(entries, "22")?.blocks[1]).toEqual({
      type: "image",
      mediaType: "image/png",
      data: "iVBORw0KGgo=",
    });
    expect(byId(entries, "24")?.blocks).toEqual([
      { type: "thinking", text: "Two files.", signature: "EqQBCkYIBxgCKkDx+/==" },
    ]);
    expect(byId(entries, "2a")?.blocks[0]).toEqual({
      type: "opaque",
      provider: "anthropic",
      json: '{"type":"redacted_thinking","data":"c2VjcmV0"}',
    });
    expect(byId(entries, "29")?.blocks).toMatchObject([{ isError: true, toolName: "Read" }]);
    expect(byId(entries, "36")?.data).toEqual({
      type: "claude-code:weather",
      data: { sky: "blue" },
    });
  });

  test("makes a compaction of a boundary and the summary after it", async () => {
    const { entries } = await read(V2);
    expect(byId(entries, "32")).toMatchObject({
      kind: "compaction",
      role: null,
      references: ["firstKeptEntryId"],
      data: { firstKeptEntryId: null, tokensBefore: 155000, trigger: "auto" },
      blocks: [{ type: "text", text: expect.stringContaining("The tax is computed once.") }],
    });
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, V2);
    expect((await handle.meta()).summary).toContain("The tax is computed once.");
    expect((await handle.meta()).title).toBe("Checkout tax");
    expect(await handle.branches()).toHaveLength(2);
  });

  test.each([
    { preservedSegment: { headUuid: "b", anchorUuid: "s", tailUuid: "c" } },
    { preservedMessages: { anchorUuid: "s", uuids: ["b", "c"] } },
  ])("continues after the summary where some lines were kept: %j", async (compactMetadata) => {
    const lines = [
      { type: "user", uuid: "a", parentUuid: null, message: { content: "one" } },
      { type: "user", uuid: "b", parentUuid: "a", message: { content: "two" } },
      { type: "user", uuid: "c", parentUuid: "b", message: { content: "three" } },
      {
        type: "system",
        subtype: "compact_boundary",
        uuid: "d",
        parentUuid: null,
        logicalParentUuid: "c",
        compactMetadata,
      },
      { type: "attachment", uuid: "x", parentUuid: "d", attachment: { type: "plan" } },
      {
        type: "user",
        uuid: "s",
        parentUuid: "x",
        isCompactSummary: true,
        message: { content: "the past" },
      },
      { type: "user", uuid: "e", parentUuid: "c", message: { content: "four" } },
    ];
    const { entries } = await read(lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(byId(entries, "s")).toMatchObject({
      kind: "compaction",
      parentSourceId: "c",
      data: { firstKeptEntryId: "b" },
    });
    expect(byId(entries, "e")?.parentSourceId).toBe("s");
  });

  test("treats a summary without a boundary as one of everything before it", async () => {
    const line = { type: "user", uuid: "a", parentUuid: null, isCompactSummary: true };
    const content = JSON.stringify({ ...line, message: { content: "the past" } });
    const { entries } = await read(content);
    expect(entries).toMatchObject([
      { kind: "compaction", data: { firstKeptEntryId: null, tokensBefore: null } },
    ]);
    await using engine = await open(":memory:");
    expect((await importText(engine, content, { path: "/a.jsonl" })).result.entries).toBe(1);
  });
});

describe("files of sub-agents, forked and resumed files", () => {
  const AGENT = fixture("claude-code/agent-a1b2c3d.jsonl");

  test.each([
    ["in its parent's folder", `/projects/p/${PARENT}/subagents/agent-a1b2c3d.jsonl`],
    ["beside its parent, as older versions had it", "/projects/p/agent-a1b2c3d.jsonl"],
    ["through a pipe", ""],
  ])("a sub-agent's file %s is a session that names its parent", async (_, path) => {
    const { session, entries, leaf } = await read(AGENT, path);
    expect(session).toMatchObject({ id: `${PARENT}/agent-a1b2c3d`, parentSession: PARENT });
    expect(shape(entries)).toEqual([
      "41<null user",
      "42<41 assistant",
      "43<42 tool",
      "44<43 assistant",
    ]);
    expect(leaf).toBeUndefined();
    expect(byId(entries, "43")?.blocks).toMatchObject([
      { output: [{ type: "text" }, { type: "opaque", json: expect.stringContaining("Read") }] },
    ]);
  });

  test("a resumed file continues the session whose lines it repeats, each line once", async () => {
    const resumed = fixture("claude-code/resumed.jsonl");
    const { session, entries, problems } = await read(resumed);
    expect(session?.id).toBe("5d0e3c1a-2b4f-4a6c-8d7e-9f0a1b2c3d4e");
    expect(shape(entries)).toEqual([
      "1<null user",
      "2<1 user",
      "3<2 assistant",
      "51<3 user",
      "52<51 assistant",
      "53<52 user",
    ]);
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [6, "duplicate_id"],
      [7, "missing_parent"],
    ]);
    expect(byId(entries, "51")?.metadata).toMatchObject({
      source: { fields: { sessionId: "00000000-aaaa-4bbb-8ccc-dddddddddddd" } },
    });
    await using engine = await open(":memory:");
    const first = await importText(engine, V1, { path: "/one.jsonl" });
    const second = await importText(engine, resumed, { path: "/two.jsonl" });
    expect(second.handle.id).toBe(first.handle.id);
    expect(second.result).toMatchObject({ created: false, entries: 3, skipped: 3 });
  });

  test("a forked session has its own copy of the shared lines", async () => {
    const forked = V1.replaceAll("5d0e3c1a", "99999999").replaceAll(
      '"parentUuid":null',
      '"forkedFrom":{"sessionId":"5d0e3c1a","messageUuid":"x"},"parentUuid":null',
    );
    expect((await read(forked)).session).toMatchObject({ parentSession: "5d0e3c1a" });
    await using engine = await open(":memory:");
    const first = await importText(engine, V1);
    const second = await importText(engine, forked);
    expect(second.handle.id).not.toBe(first.handle.id);
    expect(second.result).toMatchObject({ created: true, entries: first.result.entries });
  });
});
