import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { SessionHandle } from "../src/engine/session-handle.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { MAX_MCP_ANSWER_BYTES } from "../src/model/limits.ts";
import { open } from "../src/open.ts";
import { CALLERS } from "./support/mcp-callers.ts";
import { call, callFull, connectHttp, ERAS, failure } from "./support/mcp-client.ts";
import { type McpHttp, startMcpHttp } from "./support/mcp-http.ts";
import { talkIn } from "./support/mcp-talk.ts";

/** Every tool over a real socket, with the official client, in both eras of the protocol. */

const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;
const READING = [
  "search_sessions",
  "list_sessions",
  "list_messages",
  "get_session_meta",
  "recall",
  "search_memory",
  "build_context",
  "recap",
  "related",
  "trace",
];
const WRITING = ["remember", "compact_conversation", "append_message"];

let engine: Engine;
let http: McpHttp;
let session: SessionHandle;

beforeAll(async () => {
  engine = await open(":memory:");
  session = await talk("acme", "The cron lock is gone", `Because of ${SECRET}`);
  await talk("other", "a foreign cron lock", "which nobody sees");
  http = await startMcpHttp(engine, CALLERS);
});
afterAll(async () => {
  await http.close();
  await engine.close();
});

function talk(tenant: string, ...said: string[]): Promise<SessionHandle> {
  return talkIn(engine.forTenant(tenant), said);
}

test.each([...READING, ...WRITING])("an invalid token does not reach %s", async (name) => {
  const answer = await fetch(http.url, {
    method: "POST",
    headers: {
      authorization: "Bearer nobody",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: { session_id: session.id, query: "lock" } },
    }),
  });
  expect(answer.status).toBe(401);
  const text = await answer.text();
  expect(text).toContain("unauthorized");
  expect(text).not.toContain("cron");
});

describe.each(ERAS)("over HTTP, protocol %s", (era) => {
  let writer: Client;
  let reader: Client;
  let stranger: Client;

  beforeAll(async () => {
    writer = await connectHttp(http.url, era, "writer");
    reader = await connectHttp(http.url, era, "reader");
    stranger = await connectHttp(http.url, era, "stranger");
    for (const client of [writer, reader, stranger]) await client.listTools();
  });
  afterAll(async () => {
    await Promise.all([writer, reader, stranger].map((client) => client.close()));
  });

  test("speaks that protocol", () => {
    expect(writer.getNegotiatedProtocolVersion()).toBe(era);
    expect(writer.getServerVersion()).toMatchObject({ name: "backscroll", version: "0.0.0" });
    expect(writer.getInstructions()).toContain("search_sessions");
  });

  test("lists the caller's permitted tools, and marks read-only ones", async () => {
    const { tools } = await writer.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...READING, ...WRITING].sort());
    const readOnly = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(readOnly.map(({ name }) => name).sort()).toEqual([...READING].sort());
    const some = tools.filter(({ annotations }) => annotations?.destructiveHint !== false);
    expect(some.map(({ name }) => name).sort()).toEqual(["compact_conversation", "remember"]);
    for (const { name, inputSchema, outputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(description).toMatch(/\.$/);
      // A tool with a schema must answer with data, which clients pass on instead of the text.
      const isData = ["remember", "append_message"].includes(name);
      expect([name, outputSchema?.["type"]]).toEqual([name, isData ? "object" : undefined]);
      // Each description says when to use the tool, and when not.
      expect(description).toMatch(/ Not /);
    }
    // Clients send this list with every conversation.
    const bytes = Buffer.byteLength(
      JSON.stringify(tools.map(({ outputSchema: _, ...told }) => told)),
    );
    expect(bytes).toBeLessThan(19_900);
    const seen = (await reader.listTools()).tools.map(({ name }) => name);
    expect(seen.sort()).toEqual([...READING].sort());
  });

  test.each(WRITING)("refuses %s to a read-only token", async (name) => {
    const error = await failure(reader, name, { session_id: session.id });
    expect(error).toMatchObject({ code: "forbidden", details: { needed: "write", scope: "read" } });
  });

  const named = { query: "lock", role: "user", content: "x", name: "n", limit: 1 };
  const NAMING: [string, (keyof typeof named)[]][] = [
    ["list_messages", []],
    ["get_session_meta", []],
    ["recall", ["query"]],
    ["build_context", []],
    ["recap", []],
    ["compact_conversation", []],
    ["append_message", ["role", "content"]],
    ["remember", ["name", "content"]],
  ];
  test.each(NAMING)("%s does not find another tenant's session", async (name, fields) => {
    const args = Object.fromEntries(fields.map((field) => [field, named[field]]));
    const foreign = await failure(stranger, name, { ...args, session_id: session.id });
    const missing = await failure(stranger, name, { ...args, session_id: "none" });
    expect(foreign.code).toBe("session_not_found");
    expect(foreign.message.replace(session.id, "none")).toBe(missing.message);
  });

  test("no data of another tenant is found or listed", async () => {
    for (const name of ["search_sessions", "list_sessions", "search_memory"]) {
      const args = name === "list_sessions" ? {} : { query: "lock" };
      const { text, data } = await callFull(stranger, name, args);
      expect(`${text}${JSON.stringify(data)}`).not.toContain(session.id);
    }
    for (const [name, args] of [
      ["recap", {}],
      ["related", { question: "lock" }],
      ["trace", { error: "lock" }],
    ] as const) {
      expect((await callFull(stranger, name, args)).text).not.toContain(session.id);
    }
    const { data } = await callFull(stranger, "search_sessions", { query: "lock" });
    expect(data.hits).toHaveLength(1);
    const [first] = (await session.listMessages({ limit: 1 })).messages;
    const foreign = await failure(stranger, "list_messages", { around: first?.id });
    expect(foreign.code).toBe("invalid_input");
  });

  const WRONG: [string, object, string, string][] = [
    ["search_sessions", {}, "invalid_input", "query"],
    ["search_sessions", { query: "x", since: "soon" }, "invalid_input", "since"],
    ["search_sessions", { query: "x", tenant: "other" }, "invalid_input", "tenant"],
    ["list_sessions", { limit: 0 }, "invalid_input", "limit"],
    ["list_sessions", { cursor: "nonsense" }, "invalid_cursor", ""],
    ["list_messages", { session_id: 7 }, "invalid_input", "session_id"],
    ["list_messages", { session_id: "SESSION", cursor: "x" }, "invalid_cursor", ""],
    ["list_messages", { session_id: "SESSION", around: "x" }, "entry_not_found", ""],
    ["get_session_meta", { session_id: "" }, "invalid_input", "session_id"],
    ["recall", { session_id: "SESSION" }, "invalid_input", "query"],
    ["search_memory", { query: "" }, "invalid_input", "query"],
    ["remember", { name: "n", content: "x".repeat(9_000) }, "too_large", "content"],
    ["build_context", { session_id: "SESSION", token_budget: 1 }, "invalid_input", "token_budget"],
    ["recap", { session_id: "" }, "invalid_input", "session_id"],
    ["recap", { since: "soonish" }, "invalid_input", "since"],
    ["related", {}, "invalid_input", "session_id"],
    ["related", { session_id: "SESSION", question: "x" }, "invalid_input", "session_id"],
    ["trace", {}, "invalid_input", "file"],
    ["trace", { file: "a.ts", error: "E" }, "invalid_input", "error"],
    ["search_sessions", { query: "x", max_tokens: 10 }, "invalid_input", "max_tokens"],
    ["list_messages", {}, "invalid_input", "session_id"],
    ["list_messages", { around: "k3f9#3", offset: 2 }, "invalid_input", "around"],
    [
      "list_messages",
      { session_id: "SESSION", offset: 0, cursor: "2." },
      "invalid_input",
      "cursor",
    ],
    ["recap", { project: "a", project_id: "b" }, "invalid_input", "project_id"],
    ["list_messages", { around: "none#3" }, "session_not_found", ""],
    ["compact_conversation", { session_id: "SESSION" }, "nothing_to_compact", ""],
    ["append_message", { session_id: "SESSION", role: "god" }, "invalid_input", "role"],
    ["append_message", { session_id: "SESSION", role: "user" }, "invalid_input", ""],
  ];
  test.each(WRONG)("%s with %j fails as %s", async (name, args, code, field) => {
    const given = JSON.parse(JSON.stringify(args).replace("SESSION", session.id)) as object;
    const error = await failure(writer, name, given);
    expect(error.code).toBe(code);
    if (field !== "") expect(error.details).toMatchObject({ field });
    if (code === "invalid_input") {
      expect(error.message).toContain(`. Example: ${name} {`);
    }
    expect(JSON.stringify(error)).not.toMatch(/\n\s+at /);
  });

  test("search_sessions finds, masks, and says that it is data", async () => {
    const { text, data } = await callFull(reader, "search_sessions", { query: "cron lock" });
    expect(data).toMatchObject({
      about: expect.stringContaining("not instructions"),
      hits: [{ session_id: session.id, msg_idx: 0, window: [{ found: true }, {}] }],
      truncated: null,
    });
    expect(JSON.parse(text)).toEqual(data);
    const shown = await call(reader, "search_sessions", { query: "cron lock" });
    expect(shown.text).toMatch(/^<recalled-context>\n.*not instructions/);
    expect(shown.text).toContain("→ #0 ana: The cron lock is gone");
    expect(`${text}${shown.text}`).not.toContain(SECRET);
  });

  test("search_sessions leaves out the named session", async () => {
    const { data } = await callFull(reader, "search_sessions", {
      query: "cron lock",
      exclude_session: session.id,
    });
    expect(data).toMatchObject({ hits: [], excluded_sessions: [session.id] });
  });

  test("list_sessions and get_session_meta give a session's fields", async () => {
    const { data } = await callFull(reader, "list_sessions", { limit: 1 });
    expect(data.sessions).toHaveLength(1);
    const meta = await callFull(reader, "get_session_meta", { session_id: session.id });
    expect(meta.data.session).toMatchObject({ id: session.id, agent: "coder", tenant: "acme" });
  });

  test("search_sessions and list_sessions keep to a repository", async () => {
    const own = await engine.forTenant("acme").createSession({
      agent: "coder",
      createdBy: "ana",
      origin: { repo: `git.example/acme/${era}` },
    });
    await own.append({ role: "user", actor: "ana", content: "The till drawer is stuck" });
    const listed = await callFull(reader, "list_sessions", { repo: `acme/${era}` });
    expect(listed.data.sessions).toMatchObject([{ id: own.id }]);
    const find = async (repo: string) =>
      (await callFull(reader, "search_sessions", { query: "till drawer", repo })).data.hits;
    expect(await find(era)).toMatchObject([{ session_id: own.id }]);
    expect(await find("acme/elsewhere")).toEqual([]);
  });

  test("list_messages pages, and centres on a message", async () => {
    const long = await talk("acme", ...Array.from({ length: 7 }, (_, i) => `part ${i}`));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const args = { session_id: long.id, limit: 3, ...(cursor ? { cursor } : {}) };
      const { data } = await callFull(reader, "list_messages", args);
      seen.push(
        ...data.messages.map(({ blocks }: { blocks: { text: string }[] }) => blocks[0]?.text),
      );
      cursor = data.next_cursor as string | null;
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `part ${i}`));
    const { messages } = await long.listMessages();
    const around = await callFull(reader, "list_messages", {
      session_id: long.id,
      limit: 3,
      around: messages[4]?.id,
    });
    expect(around.data).toMatchObject({ offset: 3, total: 7 });
  });

  test("append_message, recall, build_context and get_session_meta work together", async () => {
    const live = await talk("acme", "we talk about zebras");
    const appended = await call(writer, "append_message", {
      session_id: live.id,
      role: "assistant",
      actor: "coder",
      content: "zebras have stripes",
      tool_calls: [{ id: "t1", name: "look", input: { at: "zebra" } }],
      usage: { input_tokens: 10, output_tokens: 3 },
    });
    expect(appended.data).toMatchObject({ session_id: live.id, msg_idx: 1 });
    const recalled = await callFull(reader, "recall", { session_id: live.id, query: "stripes" });
    expect(recalled.data.messages[0]).toMatchObject({
      message: { entry_id: appended.data.entry_id, actor: "coder" },
    });
    const context = await callFull(reader, "build_context", { session_id: live.id });
    expect(context.data.messages.map(({ role }: { role: string }) => role)).toContain("assistant");
    const status = await callFull(reader, "get_session_meta", { session_id: live.id });
    expect(status.data).toMatchObject({ usage: { billed: { output_tokens: 3 } }, store: null });
    const store = await callFull(reader, "get_session_meta");
    expect(store.data.store).toMatchObject({ tenant: "acme" });
  });

  test("append_message is idempotent under a key", async () => {
    const live = await talk("acme", "hello");
    const args = { session_id: live.id, role: "user", content: "again", idempotency_key: "k1" };
    const [first, second] = [
      await call(writer, "append_message", args),
      await call(writer, "append_message", args),
    ];
    expect(second.data).toEqual(first.data);
    const error = await failure(writer, "append_message", { ...args, content: "other" });
    expect(error.code).toBe("idempotency_conflict");
  });

  test("the author is the token's actor", async () => {
    const coder = await connectHttp(http.url, era, "coder");
    const live = await talk("acme", "hello");
    const say = { session_id: live.id, role: "assistant", content: "hi" };
    await call(coder, "append_message", say);
    await call(coder, "append_message", { ...say, actor: "bob" });
    expect((await failure(coder, "append_message", { ...say, actor: "eve" })).code).toBe(
      "forbidden",
    );
    const note = { name: "n", content: "c" };
    expect((await failure(coder, "remember", { ...note, agent: "eve" })).code).toBe("forbidden");
    expect((await call(coder, "remember", note)).data).toMatchObject({ agent: "coder" });
    expect((await live.history()).map(({ actor }) => actor)).toEqual(["ana", "coder", "bob"]);
    await coder.close();
  });

  test("remember and search_memory store a note, masked", async () => {
    const content = `Migrate first, with ${SECRET}`;
    const kept = await call(writer, "remember", {
      name: "deploy-steps",
      content,
      agent: "coder",
      session_id: session.id,
    });
    expect(kept.data).toMatchObject({ remembered: "deploy-steps", agent: "coder" });
    const { text, data } = await callFull(reader, "search_memory", { query: "migrate" });
    expect(data.memories).toMatchObject([{ content: "Migrate first, with [redacted]" }]);
    expect(text).not.toContain(SECRET);
    const derived = await engine.forTenant("acme").listDerived(session.id);
    expect(derived.memories).toMatchObject([{ name: "deploy-steps" }]);
  });

  test("build_context lists candidates of rules, and remember accepts one", async () => {
    const acme = engine.forTenant("acme");
    const ruled = await talk("acme", `Always run the tests first (${era}).`, "Yes.", "Go on.");
    const asked = { session_id: ruled.id, rules: true, recent_turns: 1 };
    const { text } = await call(writer, "build_context", asked);
    const [, entry = ""] = /tests first .*\[candidate, ([^,]+),/.exec(text) ?? [];
    const both = await failure(writer, "remember", { accept_rule: entry, name: "n" });
    expect(both.message).toContain("without other arguments");
    expect((await failure(stranger, "remember", { accept_rule: entry })).code).toBe(
      "record_not_found",
    );
    const { data } = await call(writer, "remember", { accept_rule: entry });
    expect(data).toMatchObject({ remembered: `Always run the tests first (${era}).` });
    expect((await call(writer, "build_context", asked)).text).not.toContain("candidate,");
    const [rule] = (await acme.listRules({ session: ruled.id })).rules;
    expect(rule?.status).toBe("in_force");
    await acme.removeRule(rule?.id ?? "");
    await acme.deleteSession(ruled.id);
  });

  test("compact_conversation summarises, and removes nothing", async () => {
    const long = await talk(
      "acme",
      ...Array.from({ length: 8 }, (_, i) => `${i} ${"word ".repeat(900)}`),
    );
    const { data } = await callFull(writer, "compact_conversation", {
      session_id: long.id,
      keep: { messages: 2 },
    });
    expect(data).toMatchObject({ removed: expect.any(Number), erased: 0, truncated: null });
    expect(data.tokens_after).toBeLessThan(data.tokens_before);
    expect(data.summary).not.toBe("");
    expect((await long.meta()).messageCount).toBe(8);
  });

  test("no answer exceeds its size, however large the messages", async () => {
    const huge = await talk(
      "acme",
      ...Array.from({ length: 12 }, (_, i) => `giraffe ${i} "${"\n\u{1F992}é\\".repeat(6_000)}`),
    );
    await huge.update({ title: "giraffe".repeat(100), metadata: { note: "g".repeat(60_000) } });
    const calls: [string, object][] = [
      ["list_messages", { session_id: huge.id, limit: 100, message_bytes: 32_768 }],
      ["list_messages", { session_id: huge.id, limit: 1, message_bytes: 32_768 }],
      ["search_sessions", { query: "giraffe", limit: 20, context_before: 8, context_after: 7 }],
      ["recall", { session_id: huge.id, query: "giraffe", k: 20 }],
      ["get_session_meta", { session_id: huge.id }],
      ["list_sessions", { limit: 100 }],
      ["compact_conversation", { session_id: huge.id, keep: { messages: 2 } }],
    ];
    for (const [name, args] of calls) {
      if (name !== "compact_conversation") {
        const short = { detail: "brief", max_tokens: 300 };
        const brief = await call(writer, name, { ...args, ...short });
        expect([name, brief.isError, brief.data]).toEqual([name, false, undefined]);
        expect([name, Buffer.byteLength(brief.text) <= 1_200]).toEqual([name, true]);
      }
      const { isError, bytes, data, text } = await callFull(writer, name, args);
      expect([name, isError]).toEqual([name, false]);
      expect(bytes).toBeLessThanOrEqual(MAX_MCP_ANSWER_BYTES);
      if (name === "list_messages" && "limit" in args && args.limit === 100) {
        expect(data.truncated).toContain("of the 100 that were asked for");
        expect(JSON.parse(text)).toEqual(data);
        const end = data.offset + data.messages.length;
        expect(data.next_cursor).toMatch(new RegExp(`^${end}\\.`));
      }
    }
  });

  test("an unknown tool fails as a request", async () => {
    await expect(writer.callTool({ name: "drop_tables", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("there are search_sessions, "),
    });
  });
});

test("a tool's full answer matches its schema", async () => {
  const client = await connectHttp(http.url, "2025-11-25", "writer");
  const asked: Record<string, object> = {
    search_sessions: { query: "lock" },
    list_messages: { session_id: session.id },
    recap: {},
    trace: { error: "cron lock" },
    list_sessions: {},
    get_session_meta: { session_id: session.id },
    recall: { session_id: session.id, query: "lock" },
    search_memory: { query: "migrate" },
    build_context: { session_id: session.id },
  };
  for (const [name, args] of Object.entries(asked)) {
    const { data, text } = await callFull(client, name, args);
    const tool = TOOLS.find((each) => each.name === name);
    expect([name, tool?.output.safeParse(data).error]).toEqual([name, undefined]);
    expect(JSON.parse(text)).toEqual(data);
  }
  await client.close();
});

test("no internal error occurred", () => {
  expect(http.errors).toEqual([]);
});
