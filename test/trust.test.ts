/** `backscroll trust`: what is kept on this machine, who reads it, what leaves it. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { widthOf } from "../src/cli/text.ts";
import { open } from "../src/open.ts";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

test("names files with modes, sessions by agent, access, agents and what leaves", async () => {
  const home = createFolder();
  const db = join(home, ".backscroll", "backscroll.db");
  const env = { HOME: home, COLUMNS: "80", WORKSTATION_ID: "w1" };
  const cli = (args: readonly string[], more = {}) =>
    callCli(args, { cwd: home, env: { ...env, ...more } });

  const empty = await cli(["trust"]);
  expect([empty.code, empty.stderr]).toEqual([0, ""]);
  expect(empty.stdout).toContain("~/.backscroll/backscroll.db (not there yet)\n");
  expect(empty.stdout).toMatch(/Given to +no one\nLeaves +nothing leaves this machine\n$/);

  const file = writeTurn(home, { id: "5f0c2a91", cwd: home, text: "Why is the lock gone?" });
  expect(file).toContain(".claude");
  await cli(["ingest"]);
  await cli(["setup", "claude-code", "--hooks", "--yes", "--no-check"]);
  {
    await using memory = await open(db, { inThread: true });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await memory.putMemory({ agent: "coder", name: "m", content: "tabs" });
    await memory.createToken({ scope: "write", expires: Date.now() + 3_600_000 });
    const { record } = await memory.createToken({ scope: "read" });
    await memory.revokeToken(record.id);
    await memory.shares.create(session.id);
  }
  const running = join(home, ".backscroll", `serve-${process.pid}.url`);
  writeFileSync(running, "http://0.0.0.0:7423\n", { mode: 0o600 });
  // A killed server's: no process has this number.
  writeFileSync(join(home, ".backscroll", "serve-4194999.url"), "http://127.0.0.1:1\n");
  chmodSync(join(home, ".backscroll"), 0o755);
  writeFileSync(`${db}-wal.kept-1`, "x");
  chmodSync(`${db}-wal.kept-1`, 0o644);
  mkdirSync(join(home, ".gemini"));
  writeFileSync(join(home, ".gemini", "settings.json"), "{ not JSON");

  const outside = {
    BACKSCROLL_EMBED_URL: "https://ana:secret@embed.example/v1",
    BACKSCROLL_EMBED_MODEL: "m",
    BACKSCROLL_MODEL_URL: "http://127.0.0.1:11434/v1",
  };
  const { stdout } = await cli(["trust", "--json"], outside);
  const found = JSON.parse(stdout);
  expect(found).toMatchObject({
    store: db,
    contents: {
      sessions: 2,
      messages: 1,
      memories: 1,
      facts: 0,
      originals: 1,
      agents: { "claude-code": 1, coder: 1 },
      tokens: { write: 1, share: 1 },
    },
    servers: [{ url: "http://0.0.0.0:7423", reachable: true }],
    agents: [
      { agent: "claude-code", what: "server", file: join(home, ".claude.json") },
      { agent: "claude-code", what: "hooks", file: join(home, ".claude", "settings.json") },
    ],
    unreadable: [join(home, ".gemini", "settings.json")],
    receivers: [
      { what: "embedder", leaves: true },
      { what: "model", address: "http://127.0.0.1:11434/v1", leaves: false },
    ],
  });
  expect(stdout).not.toContain("secret");
  // Windows has no modes.
  if (process.platform === "win32") return;
  const files = new Map<string, { mode: string; others: boolean }>(
    found.files.map((each: { path: string }) => [each.path, each]),
  );
  expect(files.get(db)).toMatchObject({ mode: "0600", others: false });
  expect(files.get(`${db}-wal.kept-1`)).toMatchObject({ mode: "0644", others: true });
  expect(files.get(running)).toMatchObject({ mode: "0600" });

  const told = await cli(["trust"], outside);
  expect([told.code, told.stderr]).toEqual([0, ""]);
  expect(told.stdout).toContain("1 session of claude-code");
  expect(told.stdout).toMatch(/^Tokens +1 write\nShares +1 open link\n/m);
  expect(told.stdout).toMatch(/^Leaves +embedder$/m);
  expect(told.stdout.split("\n").filter((line) => widthOf(line) > 80)).toEqual([]);
});

test("of a server, it has to run there", async () => {
  const ran = await callCli(["trust", "--db", "http://127.0.0.1:1"]);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("where the store is")]);
});
