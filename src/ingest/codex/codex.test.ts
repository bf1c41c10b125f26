import { describe, expect, test } from "vitest";
import { fixture, importText, readWhole } from "../../../test/support/transcripts.ts";
import { open } from "../../open.ts";
import { splitLines } from "../lines.ts";
import type { ImportedEntry, ImportedTranscript } from "../source.ts";
import { CODEX } from "./codex.ts";

const CURRENT = fixture("codex/current.jsonl");
const ID = "019a0000-0000-7000-8000-00000000000a";

async function read(content: string, path = "/sessions/rollout-x.jsonl") {
  const { sessions, problems } = await readWhole(content, { path, source: "codex" });
  const [only] = sessions;
  expect(sessions).toHaveLength(1);
  return { session: only?.session, entries: only?.entries ?? [], problems };
}

function number(sourceId: string | null | undefined): string {
  return /record-(\d+)/.exec(sourceId ?? "")?.[1] ?? "null";
}

/** `record<parent what` for each entry. */
function shape(entries: readonly ImportedEntry[]): string[] {
  return entries.map(({ sourceId, parentSourceId, kind, role, data }) => {
    const what = role ?? (kind === "custom" ? String(data?.["type"]) : kind);
    return `${number(sourceId)}<${number(parentSourceId)} ${what}`;
  });
}

function at(entries: readonly ImportedEntry[], record: number): ImportedEntry | undefined {
  return entries.find(({ sourceId }) => number(sourceId) === String(record));
}

function outputs(entries: readonly ImportedEntry[]): Record<string, number> {
  return Object.fromEntries(
    entries.flatMap(({ sourceId, usage }) =>
      usage === null ? [] : [[number(sourceId), usage.outputTokens]],
    ),
  );
}

describe("a current file", () => {
  test("becomes a session with an entry per item, and a branch for an undone turn", async () => {
    const { session, entries, problems } = await read(CURRENT);
    expect(session).toMatchObject({
      source: "codex",
      agent: "codex",
      id: ID,
      cwd: "/srv/shop",
      gitBranch: "main",
      startedAt: Date.UTC(2025, 11, 7, 9, 59, 59),
      parentSession: null,
      metadata: { source: { fields: { cli_version: "0.142.0", git: { commit_hash: "abc" } } } },
    });
    expect(shape(entries)).toEqual([
      "3<null system",
      "4<3 user",
      "5<4 model_change",
      "6<4 user",
      "8<6 assistant",
      "10<8 assistant",
      "11<10 assistant",
      "12<11 assistant",
      "13<12 tool",
      "16<13 tool",
      "18<16 assistant",
      "19<18 assistant",
      "20<19 tool",
      "21<20 assistant",
      "22<21 tool",
      "24<22 assistant",
      "26<24 session_info",
      "28<24 user",
      "29<28 codex:turn_aborted",
      "30<28 codex:thread_rolled_back",
      "31<24 user",
      "32<31 compaction",
      "33<32 model_change",
      "34<32 assistant",
      "35<34 codex:weather",
      "36<34 codex:melody",
    ]);
    expect(problems).toEqual([]);
    expect(Object.fromEntries(session?.problems.ignored ?? [])).toEqual({
      turn_context: 2,
      ghost_snapshot: 1,
      world_state: 1,
      "event_msg:task_started": 1,
      "event_msg:user_message": 1,
      "event_msg:agent_message": 1,
      "event_msg:patch_apply_end": 1,
      "event_msg:task_complete": 1,
    });
  });

  test("counts a call's usage once, on the last message of its answer", async () => {
    const { entries } = await read(CURRENT);
    expect(outputs(entries)).toEqual({ 12: 20, 24: 30 });
    expect(at(entries, 12)?.usage).toEqual({
      inputTokens: 60,
      outputTokens: 20,
      cacheCreationTokens: 0,
      cacheReadTokens: 40,
    });
  });

  test("keeps arguments, encrypted thoughts, images and failures", async () => {
    const { entries } = await read(CURRENT);
    expect(at(entries, 6)?.blocks).toEqual([
      { type: "text", text: "Why is the checkout slow?" },
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
    ]);
    expect(at(entries, 8)).toMatchObject({ model: "gpt-5.5", actor: "codex" });
    expect(at(entries, 8)?.blocks).toEqual([
      { type: "thinking", text: "Look at the cart." },
      {
        type: "opaque",
        provider: "openai",
        json: '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look at the cart."}],"content":null,"encrypted_content":"gAAAA+/=="}',
      },
    ]);
    expect(at(entries, 11)?.blocks).toEqual([
      {
        type: "tool_use",
        id: "call_1",
        name: "exec_command",
        input: '{"cmd":"cat cart.ts","id":9007199254740993}',
      },
    ]);
    expect(at(entries, 12)?.blocks).toMatchObject([
      { name: "apply_patch", input: '{"input":"*** Begin Patch\\n*** End Patch"}' },
    ]);
    expect(at(entries, 13)).toMatchObject({
      actor: "exec_command",
      blocks: [{ toolName: "exec_command", isError: true }],
    });
    expect(at(entries, 16)?.blocks).toMatchObject([{ isError: false }]);
    expect(at(entries, 20)?.blocks).toMatchObject([{ output: '[{"name":"git"}]' }]);
    expect(at(entries, 22)?.blocks).toMatchObject([{ output: "refused", isError: true }]);
    expect(at(entries, 34)?.model).toBe("gpt-5.5-mini");
  });

  test("marks injected text, and makes a compaction of the replaced history", async () => {
    const { entries } = await read(CURRENT);
    const injected = entries.filter(({ metadata }) => metadata["injected"] === true);
    expect(injected.map(({ sourceId }) => number(sourceId))).toEqual(["3", "4"]);
    expect(at(entries, 32)).toMatchObject({
      blocks: [
        { type: "text", text: "The tax is computed for each line." },
        { type: "opaque", json: '{"type":"compaction","encrypted_content":"gBBBB"}' },
      ],
      data: { firstKeptEntryId: null, tokensBefore: null, replacementItems: 2 },
    });
    await using engine = await open(":memory:");
    const { handle, result } = await importText(engine, CURRENT);
    expect(result).toMatchObject({ created: true, entries: 26, problems: 0 });
    expect(await handle.meta()).toMatchObject({
      title: "Slow checkout",
      summary: "The tax is computed for each line.",
      tokens: { inputTokens: 160, outputTokens: 50, cacheReadTokens: 140 },
    });
    expect((await importText(engine, CURRENT)).result).toMatchObject({ entries: 0, skipped: 26 });
  });
});

test("an old file without payloads is read, with its folder from the first message", async () => {
  const { source } = await readWhole(fixture("codex/flat.jsonl"));
  expect(source).toBe("codex");
  const { session, entries, problems } = await read(fixture("codex/flat.jsonl"));
  expect(session).toMatchObject({
    id: "5973b6c0-94b8-487b-a530-2aeb6098ae0e",
    cwd: "/srv/shop",
    gitBranch: "main",
    startedAt: Date.UTC(2025, 4, 7, 17, 24, 21, 597),
  });
  expect(shape(entries)).toEqual([
    "3<null user",
    "4<3 user",
    "5<4 assistant",
    "6<5 assistant",
    "8<6 tool",
    "9<8 assistant",
  ]);
  expect(at(entries, 5)?.blocks).toMatchObject([{ type: "opaque", provider: "codex" }]);
  expect(at(entries, 8)?.blocks).toMatchObject([{ toolName: "shell", isError: true }]);
  expect(problems).toEqual([]);
  expect([...(session?.problems.ignored ?? [])]).toEqual([["record_type", 2]]);
});

test("entries copied by a sub-agent are stored, and neither found nor counted again", async () => {
  const { session, entries } = await read(fixture("codex/sub-agent.jsonl"));
  expect(session).toMatchObject({ id: expect.stringContaining("9000"), parentSession: ID });
  expect(shape(entries)).toEqual([
    "4<null model_change",
    "5<null user",
    "6<5 assistant",
    "10<6 user",
    "11<10 assistant",
  ]);
  const copied = entries.filter(({ metadata }) => metadata["copied"] === true);
  expect(copied.map(({ sourceId }) => number(sourceId))).toEqual(["5", "6"]);
  expect(copied.every(({ metadata }) => metadata["injected"] === true)).toBe(true);
  expect(outputs(entries)).toEqual({ 11: 5 });
  expect([...(session?.problems.ignored ?? [])]).toContainEqual(["session_meta", 1]);
});

describe("damaged and odd files", () => {
  test("a file of events only is read from them", async () => {
    const event = (type: string, message: string) =>
      JSON.stringify({ type: "event_msg", payload: { type, message } });
    const lines = [
      '{"type":"session_meta","payload":{"id":"s","cwd":"/srv/shop"}}',
      event("user_message", "Why?"),
      event("agent_message", "Because."),
    ];
    const { session, entries } = await read(lines.join("\n"));
    expect(entries.map(({ role, blocks }) => [role, blocks])).toEqual([
      ["user", [{ type: "text", text: "Why?" }]],
      ["assistant", [{ type: "text", text: "Because." }]],
    ]);
    expect(session?.problems.ignored.size).toBe(0);
  });

  test("a file without a header gets its id from its name", async () => {
    const [, ...rest] = CURRENT.split("\n");
    const path = `/sessions/2025/12/07/rollout-2025-12-07T09-59-59-${ID}.jsonl`;
    const { session, problems } = await read(rest.join("\n"), path);
    expect(session).toMatchObject({ id: ID, cwd: "/srv/shop" });
    expect(problems).toMatchObject([{ line: 1, code: "missing_header" }]);
    expect((await read("", path)).session).toMatchObject({ id: ID, cwd: null });
  });

  test("an encrypted summary is replaced by a note", async () => {
    const [header] = CURRENT.split("\n");
    const history = [{ type: "compaction", encrypted_content: "x" }];
    const payload = { message: "", replacement_history: history };
    const { entries } = await read(`${header}\n${JSON.stringify({ type: "compacted", payload })}`);
    expect(entries[0]?.blocks).toMatchObject([
      { type: "text", text: expect.stringContaining("sealed") },
      { type: "opaque", provider: "openai" },
    ]);
  });

  test("has its named repository, and an encrypted summary is none", async () => {
    const git = { repository_url: "git@github.com:acme/shop.git", branch: "main" };
    const header = { type: "session_meta", payload: { id: ID, cwd: "/srv/shop", git } };
    const said = { type: "message", role: "user", content: [{ type: "input_text", text: "Why?" }] };
    const history = [{ type: "compaction", encrypted_content: "x" }];
    const lines = [
      { ...header, timestamp: "2026-05-04T10:00:00.000Z" },
      { type: "response_item", payload: said, timestamp: "2026-05-04T10:00:01.000Z" },
      { type: "compacted", payload: { message: "", replacement_history: history } },
    ];
    await using engine = await open(":memory:");
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const { handle } = await importText(engine, text);
    expect(await handle.meta()).toMatchObject({
      origin: { repo: "github.com/acme/shop" },
      summary: null,
      createdAt: Date.UTC(2026, 4, 4, 10),
    });
  });

  test("bad lines are counted, and unknown records are kept", async () => {
    const lines = [
      CURRENT.split("\n")[0],
      "{oops",
      '{"type":"response_item","payload":{"type":"message","role":"user"}}',
      '{"type":"response_item","payload":{"type":"function_call","name":"x"}}',
      '{"type":"response_item","payload":{"no":"type"}}',
      '{"type":"event_msg","payload":null}',
      '{"type":"resp',
    ];
    const { entries, problems } = await read(lines.join("\n"));
    expect(entries.map(({ data }) => data?.["type"])).toEqual([
      "codex:message",
      "codex:function_call",
      "codex:unknown",
      "codex:event_msg",
    ]);
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [2, "not_json"],
      [3, "unexpected"],
      [5, "unexpected"],
      [7, "torn_line"],
    ]);
  });

  test("lines of other agents are not taken for Codex's", () => {
    const others = [
      '{"type":"session_meta","version":1,"session_id":"s"}',
      '{"type":"session","version":3,"id":"s","timestamp":"2025-12-03T14:00:00.000Z"}',
      '{"type":"user","message":{"content":"x"},"timestamp":"t"}',
      '{"session_id":"s","ts":1,"text":"x"}',
      "[]",
    ];
    for (const line of others) {
      expect(CODEX.recognise(Buffer.from(line), "/a.jsonl"), line).toBe(false);
    }
    const long =
      '{"timestamp":"2025-12-07T10:00:00.000Z","type":"session_meta","payload":{"id":"s","x":"';
    expect(CODEX.recognise(Buffer.from(long), "/a.jsonl")).toBe(true);
  });

  test("files are found where Codex keeps them", () => {
    const places = (variables: Record<string, string>) =>
      CODEX.places?.({ home: "/home/ana", variables, platform: "linux" }) ?? [];
    expect(places({}).map(({ root }) => root)).toEqual([
      "/home/ana/.codex/sessions",
      "/home/ana/.codex/archived_sessions",
    ]);
    expect(places({ CODEX_HOME: "/x" })[0]?.root).toBe("/x/sessions");
    const [place] = places({});
    expect(place?.matches("2025/12/07/rollout-a.jsonl")).toBe(true);
    expect(place?.matches("rollout-a.jsonl.zst")).toBe(true);
    expect(place?.matches("history.jsonl")).toBe(false);
    expect(CODEX.resumeCommand?.({ id: ID, cwd: null })).toBe(`codex resume ${ID}`);
    expect(CODEX.resumeCommand?.({ id: "$(x)", cwd: null })).toBeNull();
  });
});

describe("resumed reading", () => {
  async function take(transcript: ImportedTranscript) {
    const entries: ImportedEntry[] = [];
    for await (const session of transcript.sessions) {
      for await (const entry of session.entries) entries.push(entry);
    }
    return { entries, state: transcript.state?.() };
  }

  const readOn = (lines: readonly string[], resume?: object, before = 0) =>
    take(
      CODEX.read({
        path: "/rollout-a.jsonl",
        lines: splitLines([Buffer.from(`${lines.join("\n")}\n`)], {
          start: { lines: before, offset: 0 },
        }),
        ...(resume === undefined ? {} : { resume: JSON.parse(JSON.stringify(resume)) }),
      }),
    );

  test.each(["current", "flat", "sub-agent"])(
    "from any line of %s on gives what reading the whole gives",
    async (name) => {
      const lines = fixture(`codex/${name}.jsonl`).trimEnd().split("\n");
      const whole = await readOn(lines);
      const isSaid = ({ data }: ImportedEntry) => data?.["type"] !== "codex:token_count";
      const places = (entries: readonly ImportedEntry[]) => shape(entries.filter(isSaid));
      const tokens = (entries: readonly ImportedEntry[]) =>
        entries.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0);
      for (let cut = 1; cut < lines.length; cut++) {
        const first = await readOn(lines.slice(0, cut));
        const second = await readOn(lines.slice(cut), first.state, cut);
        const both = [...first.entries, ...second.entries];
        expect(places(both)).toEqual(places(whole.entries));
        expect(tokens(both)).toBe(tokens(whole.entries));
      }
    },
  );
});
