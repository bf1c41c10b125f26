import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { holdNotes } from "../api/text/later.ts";
import { type Engine, open } from "../index.ts";
import { withChangedFiles } from "./changed-files.ts";

/** Enough for a busy machine. */
const PATIENT = { limitMs: 60_000 };
const SAID_AT = Date.UTC(2026, 10, 1);

/** Git prints it in quotes, unless names end in NUL. */
const QUOTED = 'src/"q"\t.ts';

let engine: Engine;
let folder = "";
let git: (at: number, ...args: string[]) => string;
beforeAll(async () => {
  engine = await open(":memory:");
  folder = mkdtempSync(join(tmpdir(), "changed-files-"));
  mkdirSync(join(folder, "src"));
  git = (at, ...args) => {
    const date = new Date(at).toISOString();
    const identity = ["-c", "user.name=ana", "-c", "user.email=ana@example.org"];
    const env = { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
    return execFileSync("git", ["-C", folder, ...identity, ...args], { env, encoding: "utf8" });
  };
  const commit = (at: number, name: string) => {
    writeFileSync(join(folder, name), String(at));
    git(at, "add", "-A");
    git(at, "commit", "-q", "-m", name);
  };
  git(0, "init", "-q");
  const day = 86_400_000;
  for (const name of ["src/a.ts", "src/b ä.ts", "src/c.ts", QUOTED]) commit(SAID_AT - day, name);
  commit(SAID_AT + day, "src/a.ts");
  commit(SAID_AT + 11 * day, "src/b ä.ts");
  commit(SAID_AT + 12 * day, "src/other.ts");
  commit(SAID_AT + 13 * day, QUOTED);
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The hits of a session that read and edited these files, and of one that only speaks of them. */
async function hitsIn(projectPath: string, paths: readonly string[], text = "") {
  const tenant = engine.forTenant(`t${Math.random()}`);
  const create = () =>
    tenant.createSession({ agent: "claude-code", createdBy: "ana", origin: { projectPath } });
  const session = await create();
  const toolCalls = paths.map((path, i) => ({
    id: `c${i}`,
    name: i === 0 ? "Edit" : "Read",
    input: { content: text, file_path: path },
  }));
  await session.append([
    { role: "user", content: "Why does the walrus wait?", createdAt: SAID_AT },
    { role: "assistant", content: "I look.", toolCalls, createdAt: SAID_AT },
  ]);
  const other = await create();
  await other.append({ role: "user", content: "walrus", createdAt: SAID_AT });
  const { hits } = await tenant.searchSessions("walrus");
  expect(hits).toHaveLength(2);
  const found = async (at: string, limits = PATIENT) => {
    const shown = await withChangedFiles(tenant, hits, { folder: at, ...limits });
    return shown.filter(({ changedFiles }) => changedFiles !== undefined);
  };
  return { found, id: session.id };
}

const HERE = ["a.ts", "b ä.ts", "c.ts"];

test("a hit says how many of its files changed since, and by which commit last", async () => {
  const { found, id } = await hitsIn(folder, [
    ...HERE.map((name) => join(folder, "src", name)),
    "src/a.ts",
    "/etc/hosts",
  ]);
  const [hit, ...more] = await found(join(folder, "src"));
  expect(more).toEqual([]);
  expect(hit).toMatchObject({ sessionId: id, changedFiles: { touched: 3, changed: 2 } });
  expect(hit && holdNotes(hit, id)).toEqual([
    expect.stringMatching(/^2 of 3 files changed since, last by [0-9a-f]{7,} \(12 Nov 2026\)$/),
  ]);
});

test("it says nothing of unchanged files, elsewhere, without a repository or in too short a time", async () => {
  const unchanged = await hitsIn(folder, [join(folder, "src/c.ts")]);
  expect(await unchanged.found(folder)).toEqual([]);
  const own = HERE.map((name) => join(folder, "src", name));
  const elsewhere = await hitsIn("/srv/elsewhere", own);
  expect(await elsewhere.found(folder)).toEqual([]);
  const here = await hitsIn(folder, own);
  expect(await here.found(tmpdir())).toEqual([]);
  expect(await here.found(folder, { limitMs: 0 })).toEqual([]);
});

test("files of long calls and of any name are counted", async () => {
  const paths = ["src/a.ts", QUOTED, "src/c\0.ts"];
  const { found } = await hitsIn(folder, paths, "long ".repeat(10_000));
  expect((await found(folder))[0]?.changedFiles).toMatchObject({ touched: 2, changed: 2 });
});

test("nothing is fetched, and only the caller's repository is read", async () => {
  const clone = join(folder, "clone");
  const ran = join(folder, "ran");
  const program = join(folder, "program.sh");
  writeFileSync(program, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  git(0, "init", "-q", clone);
  const inClone = (...args: string[]) => git(SAID_AT + 1, "-C", clone, ...args);
  mkdirSync(join(clone, "src"));
  writeFileSync(join(clone, "src/a.ts"), "");
  inClone("add", "-A");
  inClone("commit", "-qm", "a");
  const tree = inClone("rev-parse", "HEAD^{tree}").trim();
  rmSync(join(clone, ".git/objects", tree.slice(0, 2), tree.slice(2)));
  for (const [name, value] of [
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.url", `ext::${program}`],
    ["protocol.ext.allow", "always"],
  ] as const) {
    inClone("config", name, value);
  }
  const cloned = await hitsIn(clone, ["src/a.ts"]);
  expect(await cloned.found(clone)).toEqual([]);
  expect(existsSync(ran)).toBe(false);
  vi.stubEnv("GIT_DIR", join(clone, ".git"));
  const own = await hitsIn(folder, ["src/a.ts"]);
  expect(await own.found(folder)).toHaveLength(1);
  vi.unstubAllEnvs();
});
