import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { SessionHandle } from "../src/engine/session-handle.ts";
import { open } from "../src/open.ts";
import { CALLERS } from "./support/mcp-callers.ts";
import { call, callFull, connectHttp, failure } from "./support/mcp-client.ts";
import { type McpHttp, startMcpHttp } from "./support/mcp-http.ts";
import { talkIn } from "./support/mcp-talk.ts";

/** What the model of a coding agent sees. */

let engine: Engine;
let http: McpHttp;
let session: SessionHandle;
let agent: Client;

beforeAll(async () => {
  engine = await open(":memory:");
  const tenant = engine.forTenant("acme");
  session = await talkIn(tenant, ["Why is the cron lock gone?", "Two hosts shared it."]);
  await tenant.putMemory({
    agent: "coder",
    name: "cron-rule",
    content: "Never lock cron by file.",
  });
  http = await startMcpHttp(engine, CALLERS);
  agent = await connectHttp(http.url, "2025-11-25", "writer", { "Backscroll-Tools": "agent" });
});
afterAll(async () => {
  await agent.close();
  await http.close();
  await engine.close();
});

test("an agent gets seven tools in 8 KB, with the arguments of a model", async () => {
  const result = await agent.listTools();
  const { tools } = result;
  const listed = tools.map(({ name, inputSchema }) => [
    name,
    ...Object.keys(inputSchema.properties ?? {}),
  ]);
  expect(listed).toEqual([
    ["search_past_conversations", "query", "project", "agent", "since", "until", "limit", "cursor"],
    [
      "read_past_conversation",
      "around",
      "session_id",
      "offset",
      "limit",
      "cursor",
      "message_bytes",
    ],
    [
      "trace_past_error_file_or_command",
      "error",
      "file",
      "line",
      "commit",
      "command",
      "project",
      "since",
      "until",
      "limit",
    ],
    ["recap_past_work", "since", "until", "project", "session_id", "limit"],
    ["list_past_conversations", "since", "until", "project", "title", "agent", "limit", "cursor"],
    [
      "remember_for_later",
      "name",
      "content",
      "mark",
      "replaced_by",
      "accept_rule",
      "forget_conversation",
    ],
    ["search_remembered_notes", "query", "limit"],
  ]);
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(8_192);
  const names = new Set(tools.map(({ name }) => name));
  for (const { description = "", outputSchema, annotations } of tools) {
    expect(outputSchema).toBeUndefined();
    expect(description).toMatch(/ Use (when|for|to) .* Not /s);
    expect(annotations?.openWorldHint).toBe(false);
    for (const [word] of description.matchAll(/\w+_\w+_\w+/g)) expect(names).toContain(word);
  }
  expect(tools.map(({ _meta }) => _meta?.["anthropic/alwaysLoad"] === true)).toEqual([
    true,
    ...Array(6).fill(false),
  ]);
  expect(agent.getInstructions()).toContain("search_past_conversations");
});

test("programs get all tools, and so does HTTP unless it asks", async () => {
  const program = await connectHttp(http.url, "2025-11-25", "writer");
  const names = (await program.listTools()).tools.map(({ name }) => name);
  expect(names).toHaveLength(13);
  expect(names).toContain("append_message");
  await program.close();
});

test("old names answer with their old arguments, whatever is listed", async () => {
  const id = session.id;
  const calls: readonly (readonly [name: string, args: object])[] = [
    ["search_sessions", { query: "cron", context_before: 1, exclude_session: "x", detail: "full" }],
    ["list_messages", { session_id: id, message_bytes: 64, detail: "full" }],
    ["recap", { repo: "acme/shop", sub_agents: true }],
    ["related", { question: "why is the cron lock gone?" }],
    ["trace", { error: "locked", workstation_id: "desk", project_id: "shop" }],
    ["list_sessions", { machine_made: true, max_tokens: 500 }],
    ["get_session_meta", { session_id: id }],
    ["recall", { session_id: id, query: "lock", k: 2 }],
    ["search_memory", { query: "cron", agent: "coder" }],
    ["remember", { name: "n", content: "c", agent: "coder", session_id: id }],
    ["build_context", { session_id: id }],
    ["compact_conversation", { session_id: id, keep: "none" }],
    ["append_message", { session_id: id, role: "user", content: "Thanks" }],
  ];
  for (const [name, args] of calls) {
    const { isError, text } = await call(agent, name, args);
    // No model summarises here.
    const isRefused = name === "compact_conversation" && text.includes("summar");
    expect([name, isError && !isRefused, text]).toEqual([name, false, text]);
  }
});

test("one search finds conversations and notes, and says how to read on", async () => {
  const { text } = await call(agent, "search_past_conversations", { query: "cron lock" });
  expect(text).toContain("Two hosts shared it.");
  expect(text).toContain("note cron-rule [coder, ");
  expect(text).toContain('Read on: read_past_conversation { "around": "');
  const alone = await call(agent, "search_past_conversations", { query: "cron rule file" });
  expect(alone.text).toContain("Never lock cron by file.");
  const { data } = await callFull(agent, "search_past_conversations", { query: "cron lock" });
  expect(data.memories).toMatchObject([{ name: "cron-rule" }]);
  // A note has no project.
  const args = { query: "cron lock", since: "7d" };
  expect((await call(agent, "search_past_conversations", args)).text).not.toContain("cron-rule");
});

test("a limit that is too large is clamped, and the answer says so", async () => {
  const args = { query: "cron", limit: 50 };
  const found = await call(agent, "search_past_conversations", args);
  expect([found.isError, found.text]).toEqual([
    false,
    expect.stringMatching(/limit is 20 here, the most there is\.$/),
  ]);
  const { data, text } = await callFull(agent, "search_sessions", args);
  expect(data.truncated).toBe("limit is 20 here, the most there is.");
  expect(JSON.parse(text)).toEqual(data);
  const wrong = await failure(agent, "search_sessions", { ...args, since: "soon" });
  expect(wrong.message).toContain("such as today");
});

test("an error stands once in an answer, in the words of the caller's tools", async () => {
  const args = { session_id: "nope" };
  const result = await agent.callTool({ name: "read_past_conversation", arguments: args });
  const { message } = await failure(agent, "read_past_conversation", args);
  expect(message).toContain("list_past_conversations shows their ids");
  expect(JSON.stringify(result).split(message)).toHaveLength(2);
  expect(result).not.toHaveProperty("structuredContent");
});

test("a client's own words are shown only when their index is asked for", async () => {
  const tenant = engine.forTenant("acme");
  const own = await tenant.createSession({ agent: "codex", createdBy: "ana" });
  const environment = "<environment_context>shell bash</environment_context>";
  const dump = "# AGENTS.md instructions for /home/ana\n\nAlways write gnus.";
  await own.append([
    { role: "system", content: `You are Codex. ${"Obey. ".repeat(400)}` },
    { role: "user", content: dump },
    { role: "user", content: environment },
    { role: "user", content: "Count the gnus" },
    { role: "assistant", content: "Four" },
  ]);
  const read = (args: object) => call(agent, "read_past_conversation", args);
  for (const more of [{}, { message_bytes: 4_096 }]) {
    const { text } = await read({ session_id: own.id, ...more });
    expect(text).toMatch(/#3 \S+: Count the gnus\n#4 assistant: Four/);
    for (const hidden of ["Obey", "gnus.", "bash"]) expect(text).not.toContain(hidden);
    expect(text).toMatch(/3 of the client itself left out: around \w+#0 shows it/);
  }
  const { shortId } = await tenant.getSessionMeta(own.id);
  expect((await read({ around: `${shortId}#0` })).text).toContain("You are Codex. Obey.");
  expect((await read({ around: `${shortId}#1` })).text).toContain("Always write gnus.");
  const { data } = await callFull(agent, "list_messages", { session_id: own.id });
  expect(data.messages).toHaveLength(5);
});
