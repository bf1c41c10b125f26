import { describe, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { COPILOT_CLI } from "./copilot-cli.ts";

const PATH = "/home/ana/.copilot/session-state/0c9d/events.jsonl";
const WHOLE = fixture("copilot-cli/version-1.jsonl");
const EARLY = fixture("copilot-cli/early.jsonl");

async function read(content: string, files?: Record<string, string>) {
  const options = { path: PATH, ...(files === undefined ? {} : { files }) };
  const { sessions, ...rest } = await readWith(COPILOT_CLI, content, options);
  const [only] = sessions;
  return { session: only?.session, entries: only?.entries ?? [], leaf: only?.leaf, ...rest };
}

describe("a session of Copilot CLI", () => {
  test("has id, folder, branch and time", async () => {
    const { session } = await read(WHOLE);
    expect(session).toMatchObject({
      id: "0c9d6f0e-6a51-4f0c-9e6b-2b1a7a1f0001",
      agent: "copilot-cli",
      cwd: "/srv/shop",
      gitBranch: "orders",
      startedAt: Date.UTC(2026, 1, 3, 9),
      title: null,
      metadata: { source: { fields: { copilotVersion: "1.0.64" } } },
    });
  });

  test("is a conversation with its tools, and sub-agents beside it", async () => {
    const { entries, leaf } = await read(WHOLE);
    expect(outline(entries)).toEqual([
      "e1<null custom:",
      "e2<null model_change:",
      "e5<null system: You help in a terminal.",
      "e6<e5 user: Why are orders lost?",
      "e8<e6 assistant: [thinking] [bash] [task] I look.",
      "e10<e8 tool: [result]",
      "e11<e10 custom:",
      "e12<e8 assistant: [grep]",
      "e13<e12 tool: [failed]",
      "e14<e13 assistant: Nothing in the queue.",
      "e15<e10 tool: [result]",
      "e16<e15 custom:",
      "e17<e15 assistant: Order 7 is dropped on a full disk.",
      "e18<e17 session_info:",
      "e19<e17 custom:",
      "e20<e17 custom:",
      "e20#small-4<e17 custom:",
    ]);
    expect(leaf).toBe("e17");
    // Its instructions are injected text.
    expect(entries[2]?.metadata).toMatchObject({ injected: true });
  });

  test("counts an event of an unknown type by its name, and keeps it", async () => {
    const { entries, problems } = await read(WHOLE);
    expect(problems).toEqual([
      { line: 19, code: "unexpected", message: expect.stringContaining('"session.weather"') },
    ]);
    expect(entries.find(({ sourceId }) => sourceId === "e19")?.data).toEqual({
      type: "copilot-cli:session.weather",
      data: { sky: "blue" },
    });
  });

  test("keeps arguments, signatures, results and unmapped fields", async () => {
    const { entries } = await read(WHOLE);
    const byId = (id: string) => entries.find(({ sourceId }) => sourceId === id);
    expect(byId("e8")?.blocks).toEqual([
      { type: "thinking", text: "The log first.", signature: "c2ln" },
      { type: "text", text: "I look." },
      {
        type: "tool_use",
        id: "call-1",
        name: "bash",
        intentionSummary: "Read the log",
        input: '{"command":"cat orders.log","job":9007199254740993}',
      },
      { type: "tool_use", id: "call-2", name: "task", input: '{"prompt":"Search the queue"}' },
    ]);
    expect(byId("e10")).toMatchObject({
      actor: "bash",
      blocks: [
        { toolUseId: "call-1", toolName: "bash", output: "order 7 dropped", isError: false },
      ],
      metadata: { source: { fields: { toolTelemetry: { metrics: { commandTimeout: 30000 } } } } },
    });
    expect(byId("e13")?.blocks).toMatchObject([{ output: "no such file", isError: true }]);
    expect(byId("e17")?.metadata).toMatchObject({
      source: { fields: { event: { agentId: "main" } } },
    });
  });

  test("has usage that adds up to the run's, whatever its messages report", async () => {
    const { entries } = await read(WHOLE);
    const sum = (name: "inputTokens" | "outputTokens" | "cacheReadTokens") =>
      entries.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0);
    expect([sum("inputTokens"), sum("outputTokens"), sum("cacheReadTokens")]).toEqual([
      350, 63, 600,
    ]);
    const outputOf = (name: string) =>
      entries.reduce((total, { model, usage }) => {
        return model === name ? total + (usage?.outputTokens ?? 0) : total;
      }, 0);
    expect([outputOf("large-4"), outputOf("small-4")]).toEqual([52, 11]);
  });

  test("has the name from its companion file", async () => {
    const { session } = await read(EARLY, { "workspace.yaml": 'id: x\nname: "Greetings"\n' });
    expect(session?.title).toBe("Greetings");
  });

  test("of an early version keeps thoughts, skills and compactions apart", async () => {
    const { session, entries, problems } = await read(EARLY);
    expect(session).toMatchObject({ cwd: null, gitBranch: null });
    expect(outline(entries)).toEqual([
      "a1<null custom:",
      "a2<null user: Say hello.",
      'a3<a2 custom_message: <skill-context name="greet">Be kind.</skill-context>',
      "a5<a3 assistant: [thinking] Hello.",
      "a6<a5 compaction: They greeted.",
      "a7<a6 user: Again.",
      "a8<a7 assistant: [thinking]",
    ]);
    expect(problems).toEqual([]);
  });

  test.each([WHOLE, EARLY])("is the same when it is read line by line: %.90s", async (content) => {
    const steps = await readInSteps(COPILOT_CLI, content, { path: PATH });
    const { entries } = await read(content);
    const bare = (line: string) => line.replace("<a4", "<a3");
    const plain = (list: typeof entries) =>
      // A thought at the end of a file is given at once, otherwise with its answer.
      list.filter(({ sourceId }) => sourceId !== "a4" && sourceId !== "a5");
    expect(outline(plain(steps)).map(bare)).toEqual(outline(plain(entries)).map(bare));
  });

  test("is found in its folders, and resumed by its id", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const [place, older] = COPILOT_CLI.places?.(environment) ?? [];
    expect(place?.root).toBe("/home/ana/.copilot/session-state");
    expect(place?.matches("0c9d/events.jsonl")).toBe(true);
    expect(place?.matches("0c9d/checkpoints/index.md")).toBe(false);
    expect(older?.root).toBe("/home/ana/.copilot/history-session-state");
    expect(COPILOT_CLI.resumeCommand?.({ id: "0c9d", cwd: null })).toBe("copilot --resume 0c9d");
  });

  test("without a header is identified by its folder", async () => {
    const { session, problems } = await read(EARLY.split("\n").slice(1).join("\n"));
    expect(session?.id).toBe("0c9d");
    expect(problems).toMatchObject([{ line: 1, code: "missing_header" }]);
  });
});
