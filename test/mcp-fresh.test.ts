import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Access } from "../src/model/access.ts";
import { open } from "../src/open.ts";
import { RECORDED_CLIENTS } from "./fixtures/mcp-clients.ts";
import { writeTurn } from "./support/claude-transcript.ts";
import { createFolder } from "./support/folder.ts";
import { callFull, connectHttp, connectStdio, ERAS } from "./support/mcp-client.ts";
import { startMcpHttp } from "./support/mcp-http.ts";
import { repeats } from "./support/repeats.ts";

/**
 * Up-to-date answers without a daemon, and the caller's own session: real processes, the official
 * client.
 */

/** Turns written to a transcript while searches look for them. */
const TURNS = repeats(8, 20);

const READER: Access = {
  tenant: "default",
  scope: "read",
  actor: null,
  actAs: "any",
  operator: false,
  tokenId: null,
};

function machine(): { home: string; here: string; db: string; env: Record<string, string> } {
  const home = createFolder();
  const here = join(home, "here");
  mkdirSync(here);
  return { home, here, db: join(home, "store.db"), env: { HOME: home, WORKSTATION_ID: "desk" } };
}

/** Throws while a process that closes the store empties its write-ahead log: to be polled. */
function rows(file: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

const messagesIn = (db: string) => rows(db, "SELECT id FROM entries").length;
const followersOf = (db: string) =>
  rows(db, "SELECT 1 FROM leases WHERE name LIKE 'ingest/%'").length;

describe.each(ERAS)("the caller's own session, protocol %s", (era) => {
  test.each(RECORDED_CLIENTS)("over HTTP, $client", async ({ meta, conversation }) => {
    await using memory = await open(":memory:");
    const store = async (id: string) => {
      const origin = { source: "agent", key: `agent:${id}` };
      const session = await memory.createSession({ agent: "coder", createdBy: "ana", origin });
      await session.append({ role: "user", actor: "ana", content: "the walrus" });
      return session.id;
    };
    const other = await store("another");
    const own = await store(conversation[0] ?? "unnamed");
    const http = await startMcpHttp(memory, { reader: READER });
    const client = await connectHttp(http.url, era);
    const ask = {
      name: "search_sessions",
      arguments: { query: "walrus", detail: "full" },
      _meta: meta,
    };
    const { structuredContent } = await client.callTool(ask);
    const { hits, excluded_sessions: excluded } = structuredContent as {
      hits: { session_id: string; newest: boolean }[];
      excluded_sessions: string[];
    };
    const found = new Map(hits.map(({ session_id: id, newest }) => [id, newest]));
    // Variables of the environment are unknown here.
    const byMeta = Object.values(meta).includes(conversation[0] ?? "unnamed");
    expect(excluded).toEqual(byMeta ? [own] : []);
    // Without a name no session is left out, and the newest is marked.
    expect(found).toEqual(
      byMeta
        ? new Map([[other, false]])
        : new Map([
            [other, false],
            [own, true],
          ]),
    );
    await client.close();
    await http.close();
    expect(http.errors).toEqual([]);
  });
});

test("over HTTP a header names the caller's session", async () => {
  await using memory = await open(":memory:");
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  await session.append({ role: "user", actor: "ana", content: "the walrus" });
  const http = await startMcpHttp(memory, { reader: READER });
  const client = await connectHttp(http.url, "2025-11-25", undefined, {
    "Backscroll-Session": session.id,
  });
  const { data } = await callFull(client, "search_sessions", { query: "walrus" });
  expect(data).toMatchObject({ hits: [], excluded_sessions: [session.id] });
  await client.close();
  await http.close();
});

test("the first search finds unread lines, and leaves out the caller's conversation", async () => {
  const { home, here, db, env } = machine();
  writeTurn(home, { id: "before", cwd: here, text: "the walrus of yesterday" });
  writeTurn(home, { id: "mine", cwd: here, text: "what of the walrus?" });
  const { client } = await connectStdio("2025-11-25", ["--db", db, "--final-read", "0"], {
    cwd: here,
    env: { ...env, CLAUDE_CODE_SESSION_ID: "mine" },
  });
  // On a busy machine 300 ms may be too little: then the answer says so.
  let data = (await callFull(client, "search_sessions", { query: "walrus" })).data;
  for (
    ;
    data.unread !== undefined;
    data = (await callFull(client, "search_sessions", { query: "walrus" })).data
  );
  expect(data.hits).toMatchObject([
    { newest: false, window: [{ snippet: "the walrus of yesterday" }] },
  ]);
  expect(data.excluded_sessions).toHaveLength(1);
  // Written between two calls, and while one runs.
  for (let turn = 2; turn <= TURNS; turn++) {
    const asking = callFull(client, "search_sessions", { query: "walrus", limit: 1 });
    writeTurn(home, { id: "before", cwd: here, text: `turn number n${turn}`, turn });
    await asking;
  }
  const last = async () =>
    (await callFull(client, "search_sessions", { query: `n${TURNS}` })).data.hits.length;
  await expect.poll(last).toBe(1);
  await client.close();
  await expect.poll(() => messagesIn(db)).toBe(TURNS + 1);
});

test("lines written after the client killed its server are stored, by one process", async () => {
  const { home, here, db, env } = machine();
  writeTurn(home, { id: "short", cwd: here, text: "a run of a second" });
  const args = ["--db", db, "--final-read", "1"];
  const servers = await Promise.all(
    [1, 2].map(() => connectStdio("2025-11-25", args, { cwd: here, env })),
  );
  for (const { client } of servers) await callFull(client, "search_sessions", { query: "second" });
  // One of them holds the lease, or will take it.
  await expect.poll(() => followersOf(db)).toBe(1);
  for (const { transport } of servers) process.kill(transport.pid as number, "SIGKILL");
  writeTurn(home, { id: "short", cwd: here, text: "the last answer", turn: 2 });
  await expect.poll(() => messagesIn(db)).toBe(2);
  // After the quiet period the process that took over releases the lease.
  await expect.poll(() => followersOf(db)).toBe(0);
  await expect.poll(() => messagesIn(db)).toBe(2);
  await Promise.all(servers.map(({ client }) => client.close().catch(() => undefined)));
});
