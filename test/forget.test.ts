/** `forget` with filters: complete, shown before, and not ingested again. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open } from "../src/open.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { fixture } from "./support/transcripts.ts";

interface Forgotten {
  readonly dry_run: boolean;
  readonly sessions: readonly { readonly id: string; readonly title: string }[];
  readonly message_count: number;
  readonly forgotten: { readonly sessions: number; readonly entries: number };
}

function world() {
  const home = createFolder();
  const db = join(home, "store.db");
  const env = { HOME: home, BACKSCROLL_DB: db, WORKSTATION_ID: "w1" };
  const cli = (...args: string[]): Promise<Ran> => callCli(args, { cwd: home, env });
  const json = async (...args: string[]): Promise<Forgotten> =>
    JSON.parse((await cli("forget", ...args, "--json")).stdout) as Forgotten;
  return { home, db, cli, json };
}

/** A session for each place where a text may stand; each has the same words in another place. */
async function fillPlaces(db: string): Promise<void> {
  await using memory = await open(db, { inThread: true, indexing: { flushAt: 0 } });
  const create = async (id: string, fields = {}) => {
    const session = await memory.createSession({ id, agent: "coder", createdBy: "ana", ...fields });
    await session.append({ role: "user", content: `The place is ${id}.` });
    return session;
  };
  await create("none");
  await create("title", { title: "About Project  Falcon" });
  await create("metadata", { metadata: { note: ["project falcon"] } });
  await create("machine", { title: "project falcon", metadata: { machineMade: true } });
  await (await create("user")).append({ role: "user", content: "see PROJECT\nFALCON" });
  await (await create("agent")).append({ role: "assistant", content: "subproject falcons" });
  const thought = [{ type: "thinking", text: "a project falcon" } as const];
  await (await create("thought")).append({ role: "assistant", content: thought });
  const call = { id: "1", name: "bash", input: { "project falcon": 1 } };
  await (await create("call")).append({ role: "assistant", toolCalls: [call] });
  const output = `${"x ".repeat(9_000)} project falcon`;
  await (await create("result")).append({ role: "tool", toolResults: [{ id: "1", output }] });
  await (await create("raw")).append({ role: "user", content: "x", raw: { a: "project falcon" } });
  await (await create("custom")).appendCustom("state", { text: "project falcon" });
  const facts = [{ subject: "it", predicate: "is", object: "project falcon" }];
  await (await create("fact")).addFacts(facts);
  const branched = await create("branch");
  const { id } = await branched.append({ role: "user", content: "project falcon" });
  await branched.edit(id, "another");
  const summed = await create("summary");
  await summed.append({ role: "assistant", content: "Done. ".repeat(500) });
  await summed.append({ role: "user", content: "Thanks." });
  await summed.compact({ keep: { messages: 1 }, before: () => ({ summary: "project falcon" }) });
  const image = [{ type: "image", data: "cHJvamVjdCBmYWxjb24=" } as const];
  await (await create("image")).append({ role: "user", content: image });
  await memory.maintainIndex("flush");
}

describe("forget --matching", () => {
  test("finds a text wherever it is stored, as a look at the whole export does", async () => {
    const { db, cli, json } = world();
    await fillPlaces(db);
    const lines = (await cli("export", "--all", "--raw")).stdout.trim().split("\n");
    const having = new Set<string>();
    for (const line of lines) {
      const { type, id, session_id } = JSON.parse(line) as Record<string, string>;
      if (!/project(?:\s|\\n)+falcon/i.test(line)) continue;
      having.add((type === "session" ? id : session_id) ?? "");
    }
    expect(having.size).toBe(13);
    const found = await json("--matching", " project falcon", "--dry-run");
    expect(new Set(found.sessions.map(({ id }) => id))).toEqual(having);
    const deleted = await json("--matching", "project falcon", "--yes");
    expect(deleted.forgotten.sessions).toBe(13);
    const left = (await cli("export", "--all", "--raw")).stdout;
    expect(left).not.toMatch(/project(?:\s|\\n)+falcon/i);
    expect(left.match(/"type":"session"/g)).toHaveLength(2);
  });
});

describe("forget with filters", () => {
  test("shows the sessions, asks, forgets them and their bytes, and does not ingest them again", async () => {
    const { home, db, cli, json } = world();
    mkdirSync(join(home, "chats"));
    const talk = fixture("pi/version-2.jsonl");
    for (const n of [1, 2, 3]) {
      const own = talk
        .replace('"Hello"', `"Question ${n}"`)
        .replace(/"id":"([^"]{36})"/, `"id":"$1${n}"`);
      writeFileSync(join(home, `chats/${n}.jsonl`), own);
    }
    await cli("ingest", "chats");
    {
      await using memory = await open(db, { inThread: true });
      await memory.createSession({ id: "kept", agent: "coder", createdBy: "ana" });
    }
    const asked = await cli("forget", "--agent", "pi");
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
    expect(asked.stdout).toMatch(/^ID +LAST INPUT +AGENT +MESSAGES +TITLE\n/);
    for (const n of [1, 2, 3]) expect(asked.stdout).toContain(`Question ${n}\n`);
    expect(asked.stdout).toMatch(/\n3 sessions of pi\n$/);
    const dry = await cli("forget", "--agent", "pi", "--matching", "question 2", "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining("Would forget 1 session")]);
    const none = await json("--agent", "pi", "--since", "2999-01-01", "--yes");
    expect(none).toMatchObject({ sessions: [], forgotten: { sessions: 0 } });

    const done = await cli("forget", "--agent", "pi", "--yes");
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(
      /\nForgot 3 sessions with \d+ entries\. Their words .*doctor --purge\n$/,
    );
    const again = await cli("ingest", "chats", "--json");
    expect(JSON.parse(again.stdout).totals.sessions).toMatchObject({ new: 0 });
    await using memory = await open(db, { inThread: true, readOnly: true });
    expect((await memory.listSessions()).sessions.map(({ id }) => id)).toEqual(["kept"]);
    expect(await memory.originals.list()).toEqual([]);
  });

  test.each([
    [[], "forget needs a SESSION, or what to forget"],
    [["5f0c2a91", "--agent", "pi"], "SESSION and --agent cannot go together"],
    [["--owner", "ana", "--project", "shop"], "--owner and --project cannot go together"],
    [["--matching", " "], "--matching must not be empty"],
  ])("%j is refused", async (args, message) => {
    const { cli } = world();
    const ran = await cli("forget", ...args);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
