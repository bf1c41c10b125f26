/** Nodes of 0.1.0 and of this version on one database, replaced one by one under load. */

import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import { ROOT } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";
import { createEmptyDatabase, query } from "../support/postgres.ts";
import { type Load, search, sessionOf, startLoad } from "./mixed-load.ts";
import { Nodes, TODAY, type Version } from "./replaced-nodes.ts";

/** The commit of the release. */
const RELEASE = "adf7b652";
/** Acknowledged messages between two steps: more than is indexed at once. */
const A_WHILE = 1_500;
/** At the end every so many messages are searched for, by both nodes. */
const SEARCHED_EVERY = 50;

function hasRelease(): boolean {
  try {
    git("cat-file", "-e", `${RELEASE}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

function git(...args: readonly string[]): Buffer {
  return execFileSync("git", args, { cwd: ROOT, stdio: "pipe", maxBuffer: 1024 ** 3 });
}

const isThere = hasRelease();
if (!isThere) {
  process.stderr.write(
    `Skipped: nodes of two versions, because the history has no commit ${RELEASE} (0.1.0)\n`,
  );
}
const testWithRelease = test.skipIf(!isThere);

/** The sources of 0.1.0, with the packages of this checkout. */
function checkOut(): Version {
  const root = createFolder();
  execFileSync("tar", ["x", "-C", root], {
    input: git("archive", RELEASE, "bin", "src", "package.json"),
  });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "dir");
  onTestFinished(() => rmSync(join(root, "node_modules")));
  return { name: "0.1.0", root };
}

type Step = readonly [at: number, to: Version, signal: NodeJS.Signals];

testWithRelease("a fleet of 0.1.0 becomes one of this version, and loses nothing", async () => {
  const old = checkOut();
  await replaceUnderLoad(
    [old, old],
    [
      [0, TODAY, "SIGTERM"],
      [1, TODAY, "SIGKILL"],
    ],
    old,
  );
});

testWithRelease(
  "a fleet of this version goes back to 0.1.0 and forth, and loses nothing",
  async () => {
    const old = checkOut();
    await replaceUnderLoad(
      [TODAY, TODAY],
      [
        [1, old, "SIGTERM"],
        [0, old, "SIGKILL"],
        [1, TODAY, "SIGTERM"],
        [0, TODAY, "SIGKILL"],
      ],
      old,
    );
  },
);

async function replaceUnderLoad(
  versions: readonly [Version, Version],
  steps: readonly Step[],
  old: Version,
): Promise<void> {
  const db = await createEmptyDatabase();
  const nodes = await Nodes.start(db, versions);
  onTestFinished(() => nodes.stop());
  const load = await startLoad(nodes);
  const run = async () => {
    const [began, written] = [performance.now(), load.total()];
    await expect
      .poll(() => load.total(), { timeout: 600_000, interval: 50 })
      .toBeGreaterThan(written + A_WHILE);
    const seconds = (performance.now() - began) / 1_000;
    process.stdout.write(
      `${nodes.version(0)} and ${nodes.version(1)}: ${Math.round((load.total() - written) / seconds)} appends/s, ${await describeIndex(db)}\n`,
    );
  };
  await run();
  for (const [at, to, signal] of steps) {
    await nodes.replace(at, to, signal);
    await run();
  }
  await load.stop();
  report(nodes, load);
  expect(load.wrong).toEqual([]);
  expect(nodes.failures.filter(({ signal }) => signal === undefined)).toEqual([]);
  await expectStored(db, load);
  for (const heard of load.heard) {
    expect(heard).toEqual(Array.from({ length: heard.length }, (_, i) => i + 1));
  }
  // One of each version reads what all have written, with an entry that 0.1.0 does not know.
  {
    await using engine = await open(db);
    await engine.session("of-a").mark({ reason: "Its numbers are wrong." });
  }
  await nodes.replace(1, old, "SIGTERM");
  for (const at of [0, 1]) await expectRead(nodes, at, load);
  await nodes.replace(1, TODAY, "SIGTERM");
}

/** By a plain scan of the tables: each acknowledged text once, in the order of its writer. */
async function expectStored(db: string, load: Load): Promise<void> {
  const rows = await query(
    db,
    `SELECT s.id, convert_from(e.content, 'UTF8') AS content FROM entries e
      JOIN sessions s USING (tenant, session)
      WHERE e.kind = 'message' AND e.status = 'committed' ORDER BY s.id, e.sequence`,
  );
  const stored = rows.map(({ id, content }) => [id, textIn(String(content))] as const);
  for (const [writer, texts] of load.acknowledged) {
    const own = stored.filter(([id, text]) => id === sessionOf(writer) && text.startsWith(writer));
    expect(own.map(([, text]) => text)).toEqual(texts);
  }
  const streamed = stored.filter(([id]) => id === "streamed").map(([, text]) => text);
  expect(streamed).toEqual(load.streamed);
  expect(stored).toHaveLength(load.total() + load.streamed.length);
}

function textIn(content: string): string {
  const body = JSON.parse(content) as Text[] | { readonly blocks: Text[] };
  return (Array.isArray(body) ? body : body.blocks).map(({ text }) => text).join("");
}

interface Text {
  readonly text: string;
}

/** By the API of a node: all messages in order, what they say, and the hashes. */
async function expectRead(nodes: Nodes, at: number, load: Load): Promise<void> {
  const wrong: string[] = [];
  const checks = { searches: 0 };
  for (const [writer, texts] of load.acknowledged) {
    const read = await readAll(nodes, at, sessionOf(writer));
    expect(read.filter((text) => text.startsWith(writer))).toEqual(texts);
    for (let i = 0; i < texts.length; i += SEARCHED_EVERY) {
      await search(nodes, at, writer, i, wrong, checks);
    }
  }
  expect(await readAll(nodes, at, "streamed")).toEqual(load.streamed);
  expect(wrong).toEqual([]);
  expect(checks.searches).toBeGreaterThan(load.total() / SEARCHED_EVERY);
  const verified = await nodes.ask(at, "/v1/admin/store/verify", {});
  expect(verified).toMatchObject({ ok: true, problem_count: 0 });
}

async function readAll(nodes: Nodes, at: number, session: string): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const path = `/v1/sessions/${session}/messages?limit=500&offset=${texts.length}`;
    const page = (await nodes.ask(at, path)) as { messages: { blocks: Text[] }[] };
    if (page.messages.length === 0) return texts;
    texts.push(...page.messages.map(({ blocks }) => blocks.map(({ text }) => text).join("")));
  }
}

/** How often the index was changed, and the versions of its segments. */
async function describeIndex(db: string): Promise<string> {
  const [row] = await query(
    db,
    "SELECT version::int, convert_from(body, 'UTF8') AS body FROM index_manifest",
  );
  const { segments } = JSON.parse(String(row?.["body"] ?? '{"segments":[]}')) as {
    segments: readonly { readonly selection?: number; readonly documents: number }[];
  };
  const parts = segments.map(
    ({ selection, documents }) => `${documents} of ${selection === undefined ? "0.1.0" : "today"}`,
  );
  return `index changed ${Number(row?.["version"] ?? 0)} times: ${parts.join(", ")}`;
}

function report(nodes: Nodes, load: Load): void {
  const { searches, repeats, reads } = load.checks;
  const reasons = new Map<string, number>();
  for (const { why, signal } of nodes.failures) {
    const reason = `${why.slice(0, 50)} at ${signal ?? "no replacement"}`;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const failures = [...reasons].map(([reason, count]) => `${count} × ${reason}`).join(", ");
  process.stdout.write(
    `${load.total()} acknowledged, ${load.streamed.length} streamed, ${searches} searches, ${repeats} repeated on the other node, ${reads} reads; ${load.heard.map(({ length }) => length).join(" and ")} changes heard; ${nodes.answered} answered; failed: ${failures || "none"}; wrong: ${load.wrong.length}\n`,
  );
}
