import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { fixture } from "../../test/support/transcripts.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";
import type { IngestInput } from "./ingest.ts";

const ID = "7d0f3b1c-1111-4222-8333-444455556666";
const AT = "2026-05-04T10:00:0";

const line = (uuid: string, parentUuid: string | null, type: string, text: string) => {
  const message = { role: type, content: [{ type: "text", text }] };
  const about = { sessionId: ID, cwd: "/Users/eve/shop", version: "2.0.1", timestamp: `${AT}1Z` };
  return `${JSON.stringify({ parentUuid, uuid, type, message, ...about })}\n`;
};
const ASKED = line("u1", null, "user", "Why does the cron job run twice?");
const SAID = line("a1", "u1", "assistant", "The lock is not shared.");
const THANKED = line("u2", "a1", "user", "Thanks.");

/** A repository with the files of each commit of a branch, which is then not checked out. */
function repository(branch: string, ...commits: readonly Readonly<Record<string, string>>[]) {
  const folder = createFolder();
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=eve", "-c", "user.email=eve@example.org", ...args], {
      cwd: folder,
      encoding: "utf8",
    }).trim();
  git("init", "-q", "-b", branch);
  git("remote", "add", "origin", "git@example.org:eve/shop.git");
  const commit = (files: Readonly<Record<string, string>>) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
      git("add", "-f", path);
    }
    git("commit", "-q", "--no-verify", "-m", "checkpoint");
  };
  for (const files of commits) commit(files);
  return { folder, git, commit };
}

const checkpoint = (id: string, at: number, text: string, session = ID) => ({
  [`${id}/metadata.json`]: JSON.stringify({ checkpoint_id: id.replace("/", "") }),
  [`${id}/0/metadata.json`]: JSON.stringify({ session_id: session, created_at: `${AT}${at}Z` }),
  [`${id}/0/full.jsonl`]: text,
});

const BRANCH = "entire/checkpoints/v1";
const ONE = checkpoint("02/d49af5bfe0", 2, ASKED + SAID);

/** Leaves the branch, so that its files are not in the working tree. */
function leave({ git, folder }: ReturnType<typeof repository>): string {
  git("checkout", "-q", "--orphan", "main");
  git("rm", "-rfq", ".");
  return folder;
}

const run = (engine: TenantEngine, path: string, over: Partial<IngestInput> = {}) =>
  createMachine().run(engine, { sources: SOURCES, paths: [path], ...over });

async function texts(engine: TenantEngine): Promise<readonly (readonly string[])[]> {
  const { sessions } = await engine.listSessions({});
  const pages = sessions.map(({ id }) => engine.listMessages(id, { limit: 100 }));
  return (await Promise.all(pages)).map(({ messages }) =>
    messages.map((each) => textOf(each.blocks)),
  );
}

test("the sessions of Entire's checkpoints are foreign, and have the repository", async () => {
  await using engine = await open(":memory:");
  const folder = leave(
    repository(BRANCH, ONE, checkpoint("a3/b2c4d5e6f7", 3, ASKED + SAID + THANKED)),
  );
  const { repositories, totals } = await run(engine, folder);
  expect(repositories).toEqual([{ path: folder, sessions: 1, histories: 0, problems: [] }]);
  expect([totals.created, totals.entries]).toEqual([1, 3]);
  const { sessions } = await engine.listSessions({});
  expect(sessions[0]?.origin).toMatchObject({
    provenance: "foreign",
    repo: "example.org/eve/shop",
    projectPath: "/Users/eve/shop",
    source: "claude-code",
  });
  expect(await texts(engine)).toEqual([
    ["Why does the cron job run twice?", "The lock is not shared.", "Thanks."],
  ]);
});

test("checkpoints with what came after the last one are one session", async () => {
  await using engine = await open(":memory:");
  const day = `2026-05-04-${ID}`;
  const later = checkpoint("a3/b2c4d5e6f7", 3, SAID + THANKED, day);
  // The first one was written while its last line was.
  const folder = leave(
    repository(BRANCH, checkpoint("02/d49af5bfe0", 2, ASKED + SAID.slice(0, 30)), later),
  );
  const { totals } = await run(engine, folder);
  expect([totals.created, totals.entries, totals.problems.size]).toEqual([1, 3, 0]);
});

test("an unchanged repository is not read again, and a new checkpoint adds what is new", async () => {
  await using engine = await open(":memory:");
  const made = repository(BRANCH, ONE);
  leave(made);
  await run(engine, made.folder);
  // The trees are not needed any more.
  const again = await run(engine, made.folder);
  expect([again.totals.files.unchanged, again.totals.files.read, again.totals.entries]).toEqual([
    1, 0, 0,
  ]);
  made.git("checkout", "-q", BRANCH);
  made.commit(checkpoint("a3/b2c4d5e6f7", 3, ASKED + SAID + THANKED));
  leave(made);
  const grown = await run(engine, made.folder);
  expect([grown.totals.files.continued, grown.totals.grown, grown.totals.entries]).toEqual([
    1, 1, 1,
  ]);
  const forced = await run(engine, made.folder, { force: true });
  expect([forced.totals.files.read, forced.totals.entries]).toEqual([1, 0]);
});

test("remote-tracking branches, references of checkpoints and bare clones are read", async () => {
  const made = repository(BRANCH, {
    ...ONE,
    "a/.specstory/history/2026-05-04_10-00-00Z.md": fixture("specstory/history.md"),
  });
  const clone = join(createFolder(), "clone");
  execFileSync("git", ["clone", "-q", made.folder, clone]);
  execFileSync("git", ["-C", clone, "checkout", "-q", "--detach"]);
  execFileSync("git", ["-C", clone, "branch", "-D", BRANCH]);
  rmSync(join(clone, "02"), { recursive: true });
  const bare = join(createFolder(), "shop.git");
  execFileSync("git", ["clone", "-q", "--bare", made.folder, bare]);
  const referred = repository("main", { ...checkpoint(".", 2, ASKED) });
  referred.git("update-ref", "refs/entire/checkpoints/JV/01M3WE2VX9HQC3NVY9BWYCW6JV", "HEAD");
  rmSync(join(referred.folder, "0"), { recursive: true });
  for (const [path, histories] of [
    [clone, 1],
    [bare, 1],
    [referred.folder, 0],
  ] as const) {
    await using engine = await open(":memory:");
    const { repositories, totals } = await run(engine, path);
    expect(repositories).toEqual([{ path, sessions: 1, histories, problems: [] }]);
    expect(totals.created).toBe(1 + histories);
    const { sessions } = await engine.listSessions({});
    expect(new Set(sessions.map(({ origin }) => origin.provenance))).toEqual(new Set(["foreign"]));
  }
});

test("sub-agents' transcripts are sessions of their own", async () => {
  await using engine = await open(":memory:");
  const sub = JSON.stringify({
    ...JSON.parse(ASKED),
    agentId: "b7",
    isSidechain: true,
    uuid: "s1",
  });
  const folder = leave(
    repository(BRANCH, { ...ONE, "02/d49af5bfe0/tasks/toolu_1/agent-b7.jsonl": `${sub}\n` }),
  );
  const { totals, repositories } = await run(engine, folder);
  expect([repositories[0]?.sessions, totals.created]).toEqual([2, 2]);
});

test("a repository adds nothing to a session of one's own", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put(`.claude/projects/-Users-eve-shop/${ID}.jsonl`, ASKED);
  await machine.run(engine, { sources: SOURCES });
  const folder = leave(repository(BRANCH, checkpoint("02/d49af5bfe0", 2, ASKED + SAID)));
  const { totals } = await machine.run(engine, { sources: SOURCES, paths: [folder] });
  expect([totals.created, totals.grown, totals.entries]).toEqual([0, 0, 0]);
  const { sessions } = await engine.listSessions({});
  expect(sessions.map(({ origin }) => origin.provenance)).toEqual(["own"]);
});

test("what is not in the clone is reported, and read once it is there", async () => {
  await using engine = await open(":memory:");
  const made = repository(BRANCH, ONE);
  const id = made.git("rev-parse", "HEAD:02/d49af5bfe0/0/full.jsonl");
  leave(made);
  const object = join(made.folder, ".git/objects", id.slice(0, 2), id.slice(2));
  rmSync(object);
  const { totals } = await run(engine, made.folder);
  expect([totals.files.unreadable, Object.fromEntries(totals.problems)]).toEqual([
    1,
    { unreadable: 1 },
  ]);
  execFileSync("git", ["-C", made.folder, "hash-object", "-w", "--stdin"], { input: ASKED + SAID });
  expect((await run(engine, made.folder)).totals.entries).toBe(2);
});

test("a dry run stores nothing, and a repository without either has none", async () => {
  await using engine = await open(":memory:");
  const folder = leave(repository(BRANCH, ONE));
  const { totals } = await run(engine, folder, { dryRun: true });
  expect([totals.created, (await engine.listSessions({})).sessions.length]).toEqual([1, 0]);
  const empty = repository("main", { "a.txt": "a" }).folder;
  const { repositories } = await run(engine, empty);
  expect(repositories).toEqual([{ path: empty, sessions: 0, histories: 0, problems: [] }]);
  expect((await run(engine, createFolder())).repositories).toEqual([]);
});
