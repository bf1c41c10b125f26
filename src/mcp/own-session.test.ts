import { expect, test } from "vitest";
import { projectId } from "../ingest/identity/session-key.ts";
import { open } from "../open.ts";
import type { McpHost } from "./host.ts";
import { findOwnSessions } from "./own-session.ts";

const CWD = "/home/ana/project";

test("a session is the caller's own if it says so, the host does, or it is being written there", async () => {
  let ago = 0;
  const random = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
  const source = { now: () => Date.now() - ago, random };
  await using memory = await open(":memory:", { source });
  const talk = async (cwd: string, ageMs: number) => {
    ago = ageMs;
    const origin = { projectId: projectId(cwd), projectPath: cwd };
    const session = await memory.createSession({ agent: "coder", createdBy: "ana", origin });
    await session.append({ role: "user", actor: "ana", content: "hello" });
    return session.id;
  };
  const now = await talk(CWD, 5_000);
  await talk(CWD, 120_000);
  await talk("/home/ana/other", 0);
  const host: McpHost = {
    ...{ tenant: memory, version: "0" },
    access: {
      tenant: "default",
      scope: "read",
      actor: null,
      actAs: "any",
      operator: false,
      tokenId: null,
    },
  };
  expect(await findOwnSessions(host)).toEqual([]);
  expect(await findOwnSessions({ ...host, cwd: CWD })).toEqual([now]);
  expect(await findOwnSessions({ ...host, cwd: CWD, session: "a" }, "b")).toEqual(["b", "a", now]);
  expect(await findOwnSessions({ ...host, cwd: CWD, session: now })).toEqual([now]);
});
