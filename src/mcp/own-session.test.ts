import { expect, test } from "vitest";
import { projectId } from "../ingest/identity/identity.ts";
import { open } from "../open.ts";
import type { McpHost } from "./host.ts";
import { findNewestSession, findOwnSessions } from "./own-session.ts";

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
