import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import type { Place } from "../source.ts";
import { noCounts, type WalkCounts, walk } from "./walk.ts";

async function found(
  root: string,
  over: Partial<Place> = {},
  counts: WalkCounts = noCounts(),
): Promise<string[]> {
  const place: Place = { root, matches: (path) => path.endsWith(".jsonl"), ...over };
  const paths: string[] = [];
  for await (const group of walk(place, counts)) {
    expect(group.length).toBeLessThanOrEqual(256);
    for (const file of group) paths.push(relative(root, file.path));
  }
  return paths.sort();
}

function put(folder: string, path: string, content = "x\n"): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

test("gives the matching files of a place, with sizes and times", async () => {
  const root = createFolder();
  put(root, "a/one.jsonl", "12345");
  put(root, "a/b/two.jsonl");
  put(root, "a/other.txt");
  expect(await found(root)).toEqual(["a/b/two.jsonl", "a/one.jsonl"]);
  for await (const [file] of walk({ root, matches: (path) => path === "a/one.jsonl" }, noCounts()))
    expect(file).toMatchObject({ root, size: 5, mtimeUs: expect.any(Number) });
});

test("does not enter folders that a place skips", async () => {
  const root = createFolder();
  put(root, "keep/one.jsonl");
  put(root, "node_modules/two.jsonl");
  expect(await found(root, { skips: (path) => path === "node_modules" })).toEqual([
    "keep/one.jsonl",
  ]);
});

test("a missing folder has no files, without an error", async () => {
  const counts = noCounts();
  expect(await found(join(createFolder(), "nowhere"), {}, counts)).toEqual([]);
  expect(counts).toEqual(noCounts());
});

test("a place may be a single file, or a link to its folder", async () => {
  const root = createFolder();
  put(root, "one.jsonl");
  expect(await found(join(root, "one.jsonl"))).toEqual([""]);
  const link = join(createFolder(), "link");
  symlinkSync(root, link);
  expect(await found(link)).toHaveLength(1);
});

test("follows no link, whether cyclic, outward, or to a file in the place", async () => {
  const root = createFolder();
  const outside = createFolder();
  put(outside, "secret.jsonl");
  put(root, "a/one.jsonl");
  symlinkSync(root, join(root, "a/loop"));
  symlinkSync(outside, join(root, "a/out"));
  symlinkSync(join(outside, "secret.jsonl"), join(root, "a/out.jsonl"));
  symlinkSync(join(root, "a/one.jsonl"), join(root, "a/again.jsonl"));
  const counts = noCounts();
  expect(await found(root, {}, counts)).toEqual(["a/one.jsonl"]);
  expect(counts.links).toBe(4);
});

test("devices, sockets and pipes are counted and not opened", async () => {
  const root = createFolder();
  execFileSync("mkfifo", [join(root, "pipe.jsonl")]);
  const counts = noCounts();
  expect(await found(root, {}, counts)).toEqual([]);
  expect(counts.special).toBe(1);
});

test("folders that may not be read are counted", async () => {
  const root = createFolder();
  put(root, "open/one.jsonl");
  put(root, "closed/two.jsonl");
  chmodSync(root, 0o755);
  chmodSync(join(root, "open"), 0o755);
  chmodSync(join(root, "closed"), 0);
  const counts = noCounts();
  const paths = await asNobody(() => found(root, {}, counts));
  chmodSync(join(root, "closed"), 0o700);
  expect(paths).toEqual(["open/one.jsonl"]);
  expect(counts.unreadable).toBe(1);
});

/** Root may read every folder, so the test drops root's rights for a moment. */
async function asNobody<Result>(action: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(65_534);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}

test("the walk stops at a maximum depth", async () => {
  const root = createFolder();
  put(root, `${"d/".repeat(70)}deep.jsonl`);
  const counts = noCounts();
  expect(await found(root, {}, counts)).toEqual([]);
  expect(counts.tooDeep).toBe(1);
});

test("many files come in groups", async () => {
  const root = createFolder();
  for (let i = 0; i < 600; i++) put(root, `f${i}.jsonl`);
  expect(await found(root)).toHaveLength(600);
});

test("yields to the event loop while names do not match", async () => {
  const root = createFolder();
  for (let i = 0; i < 9000; i++) writeFileSync(join(root, `${i}.txt`), "");
  put(root, "one.jsonl");
  let inTurn = 0;
  let most = 0;
  let timer = setImmediate(function turn() {
    inTurn = 0;
    timer = setImmediate(turn);
  });
  const matches = (path: string) => {
    most = Math.max(most, ++inTurn);
    return path.endsWith(".jsonl");
  };
  expect(await found(root, { matches })).toEqual(["one.jsonl"]);
  clearImmediate(timer);
  expect(most).toBeLessThanOrEqual(4096);
});
