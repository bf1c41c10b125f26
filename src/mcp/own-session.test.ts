import { expect, test } from "vitest";
import { RECORDED_CLIENTS } from "../../test/fixtures/mcp-clients.ts";
import { projectId } from "../ingest/identity/identity.ts";
import { open } from "../open.ts";
import { READ_ACCESS } from "./access.cases.ts";
import type { McpHost } from "./host.ts";
import { conversationIds, findNewestSession, findOwnSessions } from "./own-session.ts";

test.each(RECORDED_CLIENTS)("$client names its conversation as recorded", (recorded) => {
  const { clientInfo, variables, meta, conversation } = recorded;
  expect(conversationIds({ client: clientInfo.name, variables, meta })).toEqual(conversation);
  // An unknown client's name is accepted too.
  expect(conversationIds({ variables, meta })).toEqual(conversation);
});

test("an agent started by another agent does not claim its parent's conversation", () => {
  const variables = { CLAUDE_CODE_SESSION_ID: "outer" };
  expect(conversationIds({ client: "opencode", variables })).toEqual([]);
  expect(
    conversationIds({ client: "codex-mcp-client", variables, meta: { threadId: "t" } }),
  ).toEqual(["t"]);
});

test("a value that is not an id is skipped", () => {
  const meta = { threadId: 7, sessionId: "", "vscode.conversationId": "x".repeat(200) };
  expect(conversationIds({ meta })).toEqual([]);
});

const CWD = "/home/ana/project";

test("only a named session is the caller's own; the newest is marked as such", async () => {
  await using memory = await open(":memory:");
  const talk = async (cwd: string) => {
    const origin = { projectId: projectId(cwd), projectPath: cwd };
    const session = await memory.createSession({ agent: "coder", createdBy: "ana", origin });
    await session.append({ role: "user", actor: "ana", content: "hello" });
    return session.id;
  };
  const here = await talk(CWD);
  const there = await talk("/home/ana/other");
  const host: McpHost = {
    tenant: memory,
    version: "0",
    cwd: CWD,
    access: {
      tenant: "default",
      scope: "read",
      actor: null,
      actAs: "any",
      operator: false,
      tokenId: null,
    },
  };
  expect(await findOwnSessions(host)).toEqual({ ids: [], isNamed: false });
  expect(await findNewestSession(host)).toBe(here);
  const { shortId } = await memory.getSessionMeta(there);
  const sessions = [shortId, "not-stored"];
  expect(await findOwnSessions({ ...host, sessions }, here)).toEqual({
    ids: [here, there],
    isNamed: true,
  });
  const unstored = { ...host, sessions: ["not-stored"] };
  expect(await findOwnSessions(unstored)).toEqual({ ids: [], isNamed: true });
  const { cwd: _, ...anywhere } = host;
  expect(await findNewestSession(anywhere)).toBe(there);
});

test("Copilot names its conversation in a variable", () => {
  const variables = { COPILOT_AGENT_SESSION_ID: "a-1" };
  expect(conversationIds({ client: "github-copilot-cli", variables })).toEqual(["a-1"]);
  expect(conversationIds({ client: "opencode", variables })).toEqual([]);
});

test("a session that ended before the caller's server started is not its own", async () => {
  await using memory = await open(":memory:", { inThread: true });
  const startedAt = Date.now();
  const session = await memory.createSession({
    agent: "coder",
    createdBy: "ana",
    startedAt: startedAt - 60_000,
  });
  const say = (createdAt: number) => session.append({ role: "user", content: "hello", createdAt });
  await say(startedAt - 60_000);
  const host: McpHost = { tenant: memory, version: "0", access: READ_ACCESS, startedAt };
  expect(await findNewestSession(host)).toBeUndefined();
  await say(startedAt + 1);
  expect(await findNewestSession(host)).toBe(session.id);
});

test("sub-agents of the caller's session are its own", async () => {
  await using memory = await open(":memory:");
  const start = async (key: string) => {
    const origin = { source: "claude-code", key, projectId: projectId(CWD), projectPath: CWD };
    return (await memory.createSession({ agent: "coder", createdBy: "ana", origin })).id;
  };
  const own = await start("desk:project:a1");
  const subAgent = await start("desk:project:a1/agent-7");
  await start("desk:project:a11");
  const host: McpHost = {
    tenant: memory,
    version: "0",
    access: {
      tenant: "default",
      scope: "read",
      actor: null,
      actAs: "any",
      operator: false,
      tokenId: null,
    },
  };
  const { ids } = await findOwnSessions({ ...host, sessions: [own] });
  expect(ids).toEqual([own, subAgent]);
});
