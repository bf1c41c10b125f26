import { describe, expect, test } from "vitest";
import { fixture, readWhole } from "../../../test/support/transcripts.ts";
import type { ImportedEntry } from "../source.ts";

async function read(content: string) {
  const { sessions, problems } = await readWhole(content, { path: "/sessions/a.jsonl" });
  const [only] = sessions;
  return { session: only?.session, entries: only?.entries ?? [], leaf: only?.leaf, problems };
}

function byId(entries: readonly ImportedEntry[], id: string): ImportedEntry | undefined {
  return entries.find((entry) => entry.sourceId === id);
}

const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2025-12-03T14:00:00.000Z"}';

/** A file of records, each `id parent [text]`; an id that begins with n is a note. */
function tree(...records: string[]): string {
  const lines = records.map((record) => {
    const [id = "", parent = "", text = id] = record.split(" ");
    const parentId = parent === "-" ? null : parent;
    const base = { id, parentId, timestamp: "2025-12-03T14:00:00.000Z" };
    if (id.startsWith("n")) return { type: "thinking_level_change", ...base, thinkingLevel: text };
    return { type: "message", ...base, message: { role: "user", content: text } };
  });
  return [HEADER, ...lines.map((line) => JSON.stringify(line)), ""].join("\n");
}

/** `id<parent` for each entry. */
function shape(entries: readonly ImportedEntry[]): string[] {
  return entries.map(({ sourceId, parentSourceId }) => `${sourceId}<${parentSourceId}`);
}

describe("version 3", () => {
  test("reads the header, every type of record, and the tree", async () => {
    const { session, entries, problems } = await read(fixture("pi/version-3.jsonl"));
    expect(session).toMatchObject({
      source: "pi",
      id: "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f",
      cwd: "/srv/shop",
      startedAt: Date.UTC(2025, 11, 3, 14),
      parentSession: expect.stringContaining("older.jsonl"),
    });
    expect(entries.map(({ sourceId, kind, role }) => [sourceId, role ?? kind])).toEqual([
      ["00000001", "model_change"],
      ["00000002", "thinking_level_change"],
      ["0000000a", "user"],
      ["0000000b", "assistant"],
      ["0000000c", "tool"],
      ["0000000d", "assistant"],
      ["0000000e", "label"],
      ["0000000f", "custom_message"],
      ["00000010", "custom"],
      ["00000011", "user"],
      ["00000012", "compaction"],
      ["00000013", "custom_message"],
      ["00000014", "branch_summary"],
      ["00000015", "user"],
      ["00000016", "custom"],
      ["00000017", "session_info"],
    ]);
    expect(problems).toMatchObject([{ line: 16, code: "unexpected" }]);
  });

  test("keeps a message's content, digits and signatures included", async () => {
    const { entries } = await read(fixture("pi/version-3.jsonl"));
    expect(byId(entries, "0000000b")).toMatchObject({
      blocks: [
        { type: "thinking", text: "A lock?", signature: "c2ln" },
        { type: "text", text: "I look.", textSignature: "msg-1" },
        {
          type: "tool_use",
          id: "call-1",
          name: "bash",
          input: '{"command":"crontab -l","job":9007199254740993}',
        },
      ],
      usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 5, cacheCreationTokens: 7 },
      model: "large-4",
      actor: "pi",
      createdAt: Date.UTC(2025, 11, 3, 14, 0, 2),
    });
    expect(byId(entries, "0000000c")).toMatchObject({
      actor: "bash",
      blocks: [{ toolUseId: "call-1", output: "* * * * * job" }],
      metadata: { source: { fields: { message: { details: { truncation: null } } } } },
    });
    expect(byId(entries, "0000000d")?.usage).toBeNull();
    expect(byId(entries, "0000000f")).toMatchObject({
      blocks: [{ text: "Ran `ls /etc`" }, { text: "cron.d\n" }],
      data: { type: "bashExecution", display: true, command: "ls /etc", exitCode: 0 },
    });
    expect(byId(entries, "00000013")?.data).toEqual({
      type: "plan",
      display: false,
      details: { step: 2 },
    });
    expect(byId(entries, "00000016")?.data).toEqual({ type: "pi:weather", data: { sky: "blue" } });
  });

  test("puts the children of an annotation after its entry, and a compaction keeps from the entry after one", async () => {
    const { entries } = await read(fixture("pi/version-3.jsonl"));
    expect(byId(entries, "0000000a")?.parentSourceId).toBeNull();
    expect(byId(entries, "0000000f")?.parentSourceId).toBe("0000000d");
    expect(byId(entries, "00000012")?.data).toMatchObject({
      firstKeptEntryId: "00000011",
      tokensBefore: 50000,
      fromHook: true,
      details: { readFiles: ["/etc/cron.d"] },
    });
  });

  test("puts an entry with a lost parent after the previous one, and reports it", async () => {
    const { entries, problems } = await read(tree("a -", "b a", "d c", "e d", "f b"));
    expect(shape(entries)).toEqual(["a<null", "b<a", "d<b", "e<d", "f<b"]);
    expect(problems).toMatchObject([{ line: 4, code: "missing_parent" }]);
  });

  test("follows parents through several annotations", async () => {
    const { entries } = await read(tree("n1 -", "a n1", "n2 a", "n3 n2", "b n3", "c n2"));
    expect(shape(entries)).toEqual(["n1<null", "a<null", "n2<a", "n3<a", "b<a", "c<a"]);
  });

  test("counts a repeated record, and keeps another one of the same id", async () => {
    const { entries, problems } = await read(tree("a - one", "a - one", "a - two"));
    expect(entries).toMatchObject([
      { sourceId: "a", blocks: [{ text: "one" }] },
      { sourceId: "a", blocks: [{ text: "two" }] },
    ]);
    expect(problems).toMatchObject([{ line: 3, code: "duplicate_id" }]);
  });

  test("distinguishes torn, invalid, unexpected and deeply nested lines, and reads the others", async () => {
    const deep = `{"type":"custom","id":"x","parentId":null,"data":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    const content = `${tree("a -")}{oops\n"text"\n{"type":"message","parentId":null}\n${deep}\n{"typ`;
    const { entries, problems } = await read(content);
    expect(shape(entries)).toEqual(["a<null"]);
    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [3, "not_json"],
      [4, "unexpected"],
      [5, "unexpected"],
      [6, "unexpected"],
      [7, "torn_line"],
    ]);
  });

  test("keeps foreign keys off our prototypes", async () => {
    const record = `{"type":"custom","id":"x","parentId":null,"customType":"t","data":{"__proto__":{"polluted":1}},"__proto__":{"polluted":2}}`;
    const { entries } = await read(`${HEADER}\n${record}\n`);
    expect(JSON.stringify(entries[0]?.data)).toBe(
      '{"type":"t","data":{"__proto__":{"polluted":1}}}',
    );
    expect(JSON.stringify(entries[0]?.metadata)).toContain('"__proto__":{"polluted":2}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("reads a file without a header", async () => {
    const [, ...records] = tree("a -", "b a").split("\n");
    const { sessions, problems } = await readWhole(records.join("\n"), { source: "pi" });
    expect(shape(sessions[0]?.entries ?? [])).toEqual(["a<null", "b<a"]);
    expect(problems).toMatchObject([{ line: 1, code: "missing_header" }]);
  });
});

describe("older versions", () => {
  test("version 2 calls custom messages hook messages", async () => {
    const { entries, problems } = await read(fixture("pi/version-2.jsonl"));
    expect(entries[1]).toMatchObject({
      kind: "custom_message",
      data: { type: "greeter", display: true },
      parentSourceId: "aaaaaaaa",
    });
    expect(problems).toEqual([]);
  });

  test("version 1 has no ids: numbers identify records", async () => {
    const { entries, problems } = await read(fixture("pi/version-1.jsonl"));
    expect(shape(entries)).toEqual([
      "record-1<null",
      "record-2<record-1",
      "record-3<record-1",
      "record-4<record-3",
      "record-5<record-4",
    ]);
    expect(entries[3]?.data).toMatchObject({ firstKeptEntryId: "record-3" });
    expect(problems).toEqual([]);
  });
});
