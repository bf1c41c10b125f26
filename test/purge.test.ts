import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { lineTerms } from "../src/blame/lines/line-terms.ts";
import { open } from "../src/open.ts";
import { runNow } from "../src/search/drive.ts";
import { Blobs } from "../src/search/index/blobs.ts";
import { IndexCache } from "../src/search/index/index-cache.ts";
import { SegmentReader } from "../src/search/index/segment-reader.ts";
import type { BlobKey } from "../src/search/port.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

/** A purge removes deleted text from the files, and a rebuilt index gives the same hits. */

const folder = mkdtempSync(join(tmpdir(), "backscroll-purge-"));
let db = "";
let files = 0;

afterAll(() => removeFolder(folder));

beforeEach(() => {
  db = join(folder, `${++files}.db`);
});

function doctor(...args: string[]): Promise<Ran> {
  return callCli(["doctor", ...args], { env: { HOME: folder, BACKSCROLL_DB: db } });
}

/** Unique words that stemming leaves unchanged. */
const DELETED = {
  message: "quokkab",
  large: "wombatf",
  title: "numbatk",
  summary: "dingok",
  old: "bilbyk",
  memory: "echidnak",
  replaced: "possumk",
  fact: "kowarik",
  removed: "antechinusk",
  beside: "dunnartk",

  retitled: "bettongk",
};

/** The deleted words that the store's files still hold. */
function leftovers(): string[] {
  const held = ["", "-wal", "-index", "-index-wal"]
    .map((suffix) => `${db}${suffix}`)
    .filter((file) => statSync(file, { throwIfNoEntry: false }) !== undefined)
    .map((file) => readFileSync(file, "latin1").toLowerCase());
  return Object.values(DELETED).filter((word) => held.some((text) => text.includes(word)));
}

/** A store in which each of these words was indexed in a segment, and then deleted. */
async function fillAndDelete(flushBetween: boolean): Promise<void> {
  await using memory = await open(db, { inThread: true, indexing: { flushAt: 0 } });
  const flush = async () => {
    if (flushBetween) await memory.maintainIndex("flush");
  };
  const kept = await memory.createSession({
    id: "kept",
    agent: "coder",
    createdBy: "ana",
    title: `Old ${DELETED.retitled}`,
  });
  await kept.append({ role: "user", actor: "ana", content: "This stays: wallaby." });
  const { id: removed } = await kept.append({
    role: "user",
    content: `An ${DELETED.removed} ${"filler ".repeat(1_000)}`,
    raw: { word: DELETED.beside, large: "x".repeat(9_000) },
  });
  const gone = await memory.createSession({
    id: "gone",
    agent: "coder",
    createdBy: "ana",
    title: `About the ${DELETED.title}`,
  });
  await gone.append({ role: "user", actor: "ana", content: `The ${DELETED.message} ran.` });
  await gone.append({ role: "user", content: `${"filler ".repeat(1_000)} ${DELETED.large}` });
  const stream = await gone.openMessage({ role: "assistant" });
  await stream.write(`Half an ${DELETED.old}`);
  await stream.commit();
  await gone.addFacts([{ subject: DELETED.fact, predicate: "is", object: "small" }]);
  await memory.putMemory({ agent: "coder", name: "animals", content: `A ${DELETED.replaced}.` });
  await memory.putMemory({ agent: "coder", name: "other", content: `An ${DELETED.memory}.` });
  await flush();
  await kept.setTitle("New title");
  await memory.putMemory({ agent: "coder", name: "animals", content: "A koala." });
  await memory.deleteMemory("coder", "other");
  await gone.delete();
  await kept.removeEntry(removed);
}

describe("doctor --purge", () => {
  test.each([
    ["segments", true],
    ["the tail", false],
  ])("removes deleted text that was indexed in %s", async (_where, flushed) => {
    await fillAndDelete(flushed);
    const { code, stdout, stderr } = await doctor("--purge");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^Purged {4}default: 1 segment, \d+ documents?, [\d.]+ (?:B|KiB), up to date$/m,
    );
    expect(leftovers()).toEqual([]);

    await using memory = await open(db, { readOnly: true, inThread: true });
    expect((await memory.searchSessions("wallaby")).hits).toHaveLength(1);
    expect(await memory.searchMemory("koala")).toHaveLength(1);
    for (const word of Object.values(DELETED)) {
      expect((await memory.searchSessions(word)).hits, word).toEqual([]);
    }
  });

  test("without a purge, the words are still in the files", async () => {
    await fillAndDelete(true);
    expect(leftovers()).not.toEqual([]);
  });

  test("needs an existing store, and may run beside another process", async () => {
    expect((await doctor("--purge")).code).toBe(4);
    await fillAndDelete(true);
    await using reader = await open(db, { inThread: true });
    const { code } = await doctor("--purge");
    expect(code).toBe(0);
    expect(leftovers()).toEqual([]);
    expect(await reader.searchMemory("koala")).toHaveLength(1);
  });
});

/** The terms of changed lines, files and commits in every stored segment, read from its bytes. */
function storedLineTerms(): string[] {
  const file = new DatabaseSync(`${db}-index`, { readOnly: true });
  const rows = file.prepare("SELECT segment, blob, bytes FROM index_blobs").all();
  file.close();
  const bytesOf = (key: BlobKey) =>
    rows.find(({ segment, blob }) => segment === key.segment && blob === key.blob)?.["bytes"];
  const blobs = new Blobs(new IndexCache());
  const terms = [...new Set(rows.map(({ segment }) => segment as number))].flatMap((segment) =>
    runNow(
      blobs.complete(() =>
        SegmentReader.open(segment, blobs)?.termsWithPrefix("message", "", 1_000),
      ),
      (need) => (need.need === "blobs" ? need.keys.map(bytesOf) : undefined) as never,
    ),
  );
  return terms
    .filter((term) => /^[-+/=#]:/.test(term ?? ""))
    .map(String)
    .sort();
}

test("a purge leaves no term of a changed line in any segment, but those of stored messages", async () => {
  const edit = (name: string) => ({
    role: "assistant" as const,
    actor: "coder",
    content: [
      {
        type: "tool_use" as const,
        id: name,
        name: "Edit",
        input: {
          file_path: `/srv/${name}.ts`,
          old_string: `const before${name} = 1;`,
          new_string: `const after${name} = 2;`,
        },
      },
    ],
  });
  let expected: string[] = [];
  {
    await using memory = await open(db, { inThread: true, indexing: { flushAt: 0 } });
    const kept = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await kept.append(edit("quokkas"));
    const { id } = await kept.append(edit("numbats"));
    await memory.maintainIndex("flush");
    const gone = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await gone.append(edit("wombats"));
    await memory.maintainIndex("flush");
    const store = new DatabaseSync(db, { readOnly: true });
    const setting = store.prepare("SELECT value FROM store WHERE key = 'indexing'").get();
    store.close();
    const { lineKey } = JSON.parse(String(setting?.["value"])) as { lineKey: string };
    const termsOf = (name: string) => [...lineTerms(edit(name).content, lineKey, () => false)];
    expected = termsOf("quokkas").sort();
    expect(expected).toHaveLength(3);
    const all = ["quokkas", "numbats", "wombats"].flatMap(termsOf).sort();
    expect(storedLineTerms()).toEqual(all);
    await kept.removeEntry(id);
    await gone.delete();
  }
  expect((await doctor("--purge")).code).toBe(0);
  expect(storedLineTerms()).toEqual(expected);
});

describe("doctor --rebuild", () => {
  test("rebuilds every segment of every tenant, with the same hits", async () => {
    const memory = await open(db, { inThread: true, indexing: { flushAt: 0 } });
    for (const tenant of ["default", "acme"]) {
      const own = memory.forTenant(tenant);
      const session = await own.createSession({ agent: "coder", createdBy: "ana" });
      for (const part of ["first", "second", "third"]) {
        await session.append({ role: "user", content: `The ${part} lock` });
        await own.maintainIndex("flush");
      }
    }
    const before = await memory.searchSessions("lock", { perSession: 3 });
    const { version, segments } = await memory.indexStatus();
    expect(segments).toBe(3);
    await memory.close();

    const ran = await doctor("--rebuild", "--json");
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ok: true,
      purged: null,
      rebuilt: [
        { tenant: "acme", lag: 0, segments: 3, documents: 3, bytes: expect.any(Number) },
        { tenant: "default", lag: 0, segments: 3, documents: 3 },
      ],
    });
    await using after = await open(db, { readOnly: true, inThread: true });
    expect((await after.indexStatus()).version).toBe(version + 3);
    expect(await after.searchSessions("lock", { perSession: 3 })).toEqual(before);
  });

  test("of one tenant leaves the others alone", async () => {
    await using memory = await open(db, { inThread: true });
    for (const tenant of ["default", "acme"]) {
      await memory.forTenant(tenant).createSession({ agent: "coder", createdBy: "ana" });
    }
    const { stdout } = await doctor("--rebuild", "--tenant", "acme");
    expect(stdout).toMatch(/^Rebuilt {3}acme: 1 segment/m);
    expect(stdout).not.toContain("default");
  });
});
