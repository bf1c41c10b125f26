/** Error messages of invalid calls, written for a model. */

import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import { PROMPTS } from "../src/mcp/prompts.ts";
import { createMcpServer } from "../src/mcp/server.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { open } from "../src/open.ts";

let engine: Engine;
let ask: (method: string, params?: object) => Promise<Answer>;

/** An answer on the wire, or the error. */
interface Answer {
  readonly result?: {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

beforeAll(async () => {
  engine = await open(":memory:");
  const session = await engine.createSession({ id: "s", agent: "coder", createdBy: "ana" });
  await session.append({ role: "user", actor: "ana", content: "The cron lock is gone" });
  const access = { tenant: "default", scope: "write", actor: null, actAs: "any" } as const;
  const server = createMcpServer({
    tenant: engine,
    access: { ...access, operator: false, tokenId: null },
    version: "0.0.0",
  });
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const waiting = new Map<unknown, (answer: Answer) => void>();
  ours.onmessage = (message) => {
    if ("id" in message) waiting.get(message.id)?.(message as Answer);
  };
  await server.connect(theirs);
  await ours.start();
  let id = 0;
  ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      void ours.send({ jsonrpc: "2.0", id, method, params } as JSONRPCMessage);
    });
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "0.0.0" },
  });
});
afterAll(() => engine.close());

/** The error message of invalid arguments. */
async function complaint(name: string, args: object): Promise<string> {
  const { result } = await ask("tools/call", { name, arguments: args });
  expect(result?.isError).toBe(true);
  const { error } = JSON.parse(result?.content[0]?.text ?? "{}") as {
    readonly error: { readonly message: string };
  };
  return error.message;
}

describe("a tool that is called wrongly", () => {
  test.each<[string, object, string]>([
    ["search_sessions", {}, "query is missing; it must be a string of 1 to 16384 characters. "],
    [
      "search_sessions",
      { query: 5, limit: "ten" },
      'query is 5; it must be a string of 1 to 16384 characters. limit is the string "ten"; it must be an integer from 1 to 20. ',
    ],
    ["search_sessions", { query: "x", limit: 0 }, "limit is 0; it must be an integer from 1 to"],
    ["search_sessions", { query: "" }, "query is an empty string; it must be a string of 1 to"],
    ["search_sessions", { query: "x", since: "soon" }, "such as today, yesterday, 7d"],
    [
      "build_context",
      { session_id: "s", tokenBudget: 9 },
      'build_context has no argument "tokenBudget" (did you mean token_budget?); it takes session_id (required), token_budget, ',
    ],
    ["build_context", { session_id: "s", token_budget: 1 }, "256"],
    [
      "append_message",
      { session_id: "s", role: "god" },
      'role is the string "god"; it must be one of "user", "assistant", "system", "tool". ',
    ],
    [
      "append_message",
      { session_id: "s", role: "assistant", tool_calls: [{ id: 1, name: "a", input: {} }] },
      "tool_calls.0.id is 1; it must be a string of 1 to",
    ],
    ["list_messages", { session_id: "s", offset: -1 }, "it must be an integer of 0 or more"],
  ])("%s with %j names the received and the allowed values", async (name, args, said) => {
    const message = await complaint(name, args);
    expect(message).toContain(said);
    expect(message).not.toMatch(/expected|received|Invalid/);
  });

  test("gets a working example", async () => {
    for (const { name, example } of TOOLS) {
      const call = `Example: ${name} ${JSON.stringify(example)}`;
      expect(await complaint(name, { nonsense: true })).toContain(call);
      const { result } = await ask("tools/call", { name, arguments: example });
      // Examples are valid except for their unknown session id.
      if (result?.isError) expect(result.content[0]?.text).toContain("session_not_found");
    }
  });
});

describe("a request with wrong parameters is -32602, and says", () => {
  const CALL = 'Example: tools/call {"name":"search_sessions","arguments":{"query":"cron lock"}}';
  test.each<[string, object | undefined, string]>([
    ["tools/call", undefined, `name is missing; it must be a string. ${CALL}`],
    ["tools/call", { name: 5 }, `name is 5; it must be a string. ${CALL}`],
    [
      "tools/call",
      { name: "recall", arguments: [] },
      "arguments is an array; it must be an object",
    ],
    [
      "tools/call",
      { name: "search_sesions" },
      "(did you mean search_sessions?); there are search_",
    ],
    ["prompts/get", {}, "name is missing; it must be a string. Example: prompts/get {"],
    ["prompts/get", { name: "nope" }, "there are what_did_we_decide, resume_session"],
    [
      "prompts/get",
      { name: "resume_session", arguments: { session_id: 5 } },
      "arguments.session_id is 5; it must be a string. ",
    ],
    [
      "prompts/get",
      { name: "resume_session", arguments: { session: "x" } },
      "session_id is missing; it must be a string of 1 to 128 characters. ",
    ],
    ["resources/read", {}, "uri is missing; it must be a string. Example: resources/read {"],
    ["resources/read", { uri: "nope" }, "there are session://ID and session://ID/messages?"],
    ["resources/read", { uri: "session://s/messages?limit=0" }, "an integer from 1 to 100"],
    ["resources/list", { cursor: 5 }, "cursor is 5; it must be a string. "],
    ["logging/setLevel", { level: "x" }, 'level is the string "x"; it must be one of "debug", '],
  ])("%s %j", async (method, params, said) => {
    const { error } = await ask(method, params);
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain(said);
    expect(error?.message).not.toMatch(/expected|received|Invalid/);
  });

  test("a working example of a prompt", async () => {
    for (const { name, example } of PROMPTS) {
      const wrong = await ask("prompts/get", { name, arguments: { nonsense: "x" } });
      expect(wrong.error?.message).toContain(`Example: ${name} ${JSON.stringify(example)}`);
      const { error } = await ask("prompts/get", { name, arguments: example });
      if (error !== undefined) expect(error.data).toMatchObject({ code: "session_not_found" });
    }
  });
});
