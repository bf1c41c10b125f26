import { describe, expect, test } from "vitest";
import { fixture, importText, readWhole } from "../../../test/support/transcripts.ts";
import { open } from "../../open.ts";
import { splitLines } from "../lines.ts";
import { readTranscript } from "../read-transcript.ts";
import type { FileAccess, ImportedEntry, ImportedTranscript } from "../source.ts";
import { CLAUDE_CODE } from "./claude-code.ts";

const ID = "3f2e1d0c-9b8a-4756-8432-10fedcba9876";
const PATH = `/projects/-srv-shop/${ID}.jsonl`;

/** A minimal line. */
function said(type: "user" | "assistant", text: string, more: object = {}): string {
  const content = [{ type: "text", text }];
  return JSON.stringify({ type, message: { role: type, content }, ...more });
}

async function read(content: string, path = PATH) {
  const { sessions, problems } = await readWhole(content, { path, source: "claude-code" });
  const [only] = sessions;
  return { session: only?.session, entries: only?.entries ?? [], problems };
}

describe("edge cases", () => {
  test("Empty JSONL file: a session without messages, identified by the file's name", async () => {
    for (const content of ["", "\n", "  \n\n"]) {
      const { session, entries, problems } = await read(content);
      expect(session).toMatchObject({ id: ID, cwd: null, startedAt: null });
      expect([entries, problems]).toEqual([[], []]);
    }
    const { source } = await readTranscript({ bytes: [], path: PATH });
    expect(source).toBe("claude-code");
    await using engine = await open(":memory:");
    const { handle, result } = await importText(engine, "", { path: PATH });
    expect(result).toMatchObject({ created: true, entries: 0, problems: 0 });
    expect(await handle.meta()).toMatchObject({ messageCount: 0 });
  });

  test("Malformed JSON line: skipped and counted, and later lines are read", async () => {
    const lines = [said("user", "one"), '{"type":"user",', said("assistant", "two"), "[1]"];
    const { entries, problems } = await read(`${lines.join("\n")}\n`);
    expect(entries.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [2, "not_json"],
      [4, "unexpected"],
    ]);
  });

  test("Malformed JSON line: a first one does not hide the format", async () => {
    const { source } = await readWhole(`{oops\n${said("user", "one")}\n`);
    expect(source).toBe("claude-code");
  });

  test("Missing sessionId in JSON: the file's name is the session's id", async () => {
    expect((await read(said("user", "one"))).session?.id).toBe(ID);
    const named = said("user", "one", { sessionId: "other" });
    expect((await read(named)).session?.id).toBe("other");
    const late = `${said("user", "one")}\n${said("user", "two", { sessionId: "late" })}\n`;
    expect((await read(late)).session?.id).toBe("late");
  });

  test("Missing cwd field: the session has no folder; otherwise the first non-empty one", async () => {
    expect((await read(said("user", "one"))).session?.cwd).toBeNull();
    const lines = [
      said("user", "one", { cwd: "" }),
      said("user", "two", { cwd: "/srv/shop", gitBranch: "main" }),
      said("user", "three", { cwd: "/srv/other", gitBranch: "other" }),
    ];
    const { session, entries } = await read(lines.join("\n"));
    expect(session).toMatchObject({ cwd: "/srv/shop", gitBranch: "main" });
    expect(entries[2]?.metadata).toMatchObject({ source: { fields: { cwd: "/srv/other" } } });
  });

  test("File deleted between scan and parse: the part already read is kept", async () => {
    async function* vanishing() {
      yield Buffer.from(`${said("user", "one")}\n`);
    }
    const { sessions } = await readTranscript({ bytes: vanishing(), path: PATH });
    for await (const { entries } of sessions) {
      const all: ImportedEntry[] = [];
      for await (const entry of entries) all.push(entry);
      expect(all).toHaveLength(1);
    }
  });

  test("Same session from two workstations: two sessions, as their keys differ", async () => {
    await using engine = await open(":memory:");
    const content = said("user", "one", { sessionId: ID, cwd: "/srv/shop" });
    const one = await importText(engine, content, { key: `aaaa:pppp:${ID}`, workstation: "aaaa" });
    const two = await importText(engine, content, { key: `bbbb:pppp:${ID}`, workstation: "bbbb" });
    expect(one.handle.id).not.toBe(two.handle.id);
    expect([one.result.entries, two.result.entries]).toEqual([1, 1]);
  });

  test("mtime unchanged but content changed: reading again adds only new entries", async () => {
    await using engine = await open(":memory:");
    const before = `${said("user", "one")}\n`;
    const first = await importText(engine, before, { path: PATH });
    const again = await importText(engine, `${before}${said("user", "two")}\n`, { path: PATH });
    expect(again.handle.id).toBe(first.handle.id);
    expect(again.result).toMatchObject({ entries: 1, skipped: 1 });
  });

  test("SESSIONS_DIR not found: the place is named without I/O", () => {
    const places = (variables: Record<string, string>) =>
      CLAUDE_CODE.places?.({ home: "/home/ana", variables, platform: "linux" }) ?? [];
    expect(places({}).map(({ root }) => root)).toEqual([
      "/home/ana/.claude/projects",
      "/home/ana/.config/claude/projects",
    ]);
    const roots = (variables: Record<string, string>) => places(variables).map(({ root }) => root);
    expect(roots({ CLAUDE_CONFIG_DIR: "/etc/claude" })).toEqual(["/etc/claude/projects"]);
    const both = { SESSIONS_DIR: "/not/there", CLAUDE_CONFIG_DIR: "/etc/claude" };
    expect(roots(both)).toEqual(["/not/there"]);
    const [place] = places({});
    expect(place?.matches("p/a/subagents/agent-1.jsonl")).toBe(true);
    expect(place?.matches("p/a/tool-results/x.txt")).toBe(false);
    expect(place?.skips?.("p/a/tool-results")).toBe(true);
  });

  test("a line without a message, or without a type, is kept and counted", async () => {
    const { entries, problems } = await read('{"type":"user","uuid":"a"}\n{"uuid":"b"}\n');
    expect(entries.map(({ kind }) => kind)).toEqual(["custom", "custom"]);
    expect(problems.map(({ code }) => code)).toEqual(["unexpected", "unexpected"]);
  });

  test("lines without uuids are consecutive, and two equal ones are two", async () => {
    const lines = [said("user", "yes"), said("assistant", "What?"), said("user", "yes")];
    const { entries } = await read(lines.join("\n"));
    expect(entries.map(({ parentSourceId }) => parentSourceId)).toEqual([
      undefined,
      entries[0]?.sourceId,
      entries[1]?.sourceId,
    ]);
    expect(new Set(entries.map(({ sourceId }) => sourceId)).size).toBe(3);
  });
});

test("lines of other agents are not taken for Claude Code's", () => {
  const others = [
    '{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","parts":[]}}',
    '{"type":"session","version":3,"id":"s"}',
    '{"type":"session_meta","payload":{"id":"s"}}',
    '{"type":"session.start","data":{"sessionId":"s"}}',
    '{"role":"user","message":{"content":[]}}',
    "{}",
    "",
  ];
  for (const line of others) {
    expect(CLAUDE_CODE.recognise(Buffer.from(line), "/a.jsonl"), line).toBe(false);
  }
  const ours = '{"type":"user","uuid":"a","message":{"content":"see \\"parts\\""}}';
  expect(CLAUDE_CODE.recognise(Buffer.from(`broken\n${ours}`), "/a.jsonl")).toBe(true);
  expect(CLAUDE_CODE.recognise(Buffer.from(`${ours}\n${others[0]}`), "/a.jsonl")).toBe(false);
  const long = `{"parentUuid":null,"message":{"content":"${"x".repeat(100)}`;
  expect(CLAUDE_CODE.recognise(Buffer.from(long), "/a.jsonl")).toBe(true);
});

test("the resume command names the folder, and a sub-agent's names its parent", () => {
  const command = (id: string, cwd: string | null) => CLAUDE_CODE.resumeCommand?.({ id, cwd });
  expect(command(ID, "/srv/shop")).toBe(`cd /srv/shop && claude --resume ${ID}`);
  expect(command(ID, "/srv/it's")).toBe(`cd '/srv/it'\\''s' && claude --resume ${ID}`);
  expect(command(`${ID}/agent-1`, null)).toBe(`claude --resume ${ID}`);
  expect(command("a; rm -rf /", null)).toBeNull();
});

test("the file beside a sub-agent's transcript has its title", async () => {
  const files: FileAccess = {
    readText: async (path) =>
      path === "agent-a1b2c3d.meta.json" ? '{"agentType":"Explore","description":"Find tax"}' : "",
    readRecord: async () => undefined,
    readBytes: async () => undefined,
    hold: async () => () => undefined,
    list: async () => [],
    modifiedAt: async () => undefined,
  };
  const lines = splitLines([Buffer.from(fixture("claude-code/agent-a1b2c3d.jsonl"))]);
  const { sessions } = CLAUDE_CODE.read({
    path: "/p/s/subagents/agent-a1b2c3d.jsonl",
    lines,
    files,
  });
  for await (const session of sessions) {
    expect(session).toMatchObject({
      title: "Find tax",
      metadata: { source: { fields: { agent: { agentType: "Explore" } } } },
    });
  }
});

describe("resumed reading", () => {
  async function take(transcript: ImportedTranscript) {
    const entries: ImportedEntry[] = [];
    let leaf: string | null | undefined;
    let id: string | null = null;
    for await (const session of transcript.sessions) {
      for await (const entry of session.entries) entries.push(entry);
      leaf = session.leaf?.();
      id = session.id;
    }
    return { entries, leaf, id, state: transcript.state?.(), problems: transcript.problems.first };
  }

  const open = (text: string, resume?: object, before = 0) =>
    CLAUDE_CODE.read({
      path: PATH,
      lines: splitLines([Buffer.from(text)], { start: { lines: before, offset: 0 } }),
      // The state after a round trip through storage.
      ...(resume === undefined ? {} : { resume: JSON.parse(JSON.stringify(resume)) }),
    });

  const places = (entries: readonly ImportedEntry[]) =>
    entries.map(({ sourceId, parentSourceId, kind }) => [sourceId, parentSourceId, kind]);

  const tokens = (entries: readonly ImportedEntry[]) =>
    entries.reduce(
      (sum, { usage }) => sum + (usage?.outputTokens ?? 0) + (usage?.inputTokens ?? 0),
      0,
    );

  test.each(["version-1", "version-2", "agent-a1b2c3d"])(
    "from any line of %s on gives what reading the whole gives",
    async (name) => {
      const lines = fixture(`claude-code/${name}.jsonl`).trimEnd().split("\n");
      const whole = await take(open(lines.join("\n")));
      for (let at = 1; at < lines.length; at++) {
        const first = await take(open(`${lines.slice(0, at).join("\n")}\n`));
        const rest = `${lines.slice(at).join("\n")}\n`;
        if (first.state === undefined) continue;
        const second = await take(open(rest, first.state, at));
        expect(second.id).toBe(whole.id);
        // A repeated note is stored once: the second reading cannot know of the first.
        const all = [...first.entries, ...second.entries];
        const both = [...new Map(all.map((entry) => [entry.sourceId, entry])).values()];
        expect(places(both).filter(([, , kind]) => kind !== "session_info")).toEqual(
          places(whole.entries).filter(([, , kind]) => kind !== "session_info"),
        );
        expect(tokens(both)).toBe(tokens(whole.entries));
        expect(second.leaf ?? second.entries.at(-1)?.sourceId).toBe(
          whole.leaf ?? whole.entries.at(-1)?.sourceId,
        );
        expect(second.problems).toEqual([]);
      }
    },
  );

  test("a line that is read again is not a problem", async () => {
    const lines = fixture("claude-code/version-2.jsonl").trimEnd().split("\n");
    const first = await take(open(lines.slice(0, 9).join("\n")));
    const second = await take(open(lines.slice(8).join("\n"), first.state, 8));
    expect(second.problems).toEqual([]);
    expect(second.entries.map(({ sourceId }) => sourceId)).not.toContain(
      first.entries.at(-1)?.sourceId,
    );
  });

  test("the reader's state stays small, whatever the length of the file", async () => {
    const line = (i: number) =>
      said("user", "x", {
        uuid: `u${i}`,
        parentUuid: i ? `u${i - 1}` : null,
        sessionId: ID,
        cwd: "/srv/shop",
      });
    const lines = Array.from({ length: 5_000 }, (_, i) => line(i));
    const { state, entries } = await take(open(lines.join("\n")));
    expect(entries).toHaveLength(5_000);
    expect(JSON.stringify(state).length).toBeLessThan(64 * 1024);
  });
});
