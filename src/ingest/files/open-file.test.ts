import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createFolder } from "../../../test/support/folder.ts";
import { splitLines } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import { accessAround } from "./file-access.ts";
import { isSparse, type OpenOptions, TranscriptFile } from "./open-file.ts";

async function opened(content: Uint8Array | string, options: OpenOptions = {}) {
  const path = join(createFolder(), "file.jsonl");
  writeFileSync(path, content);
  return TranscriptFile.open(path, options);
}

async function linesOf(file: TranscriptFile, problems = new ProblemLog(), offset = 0) {
  const texts: string[] = [];
  for await (const { text } of splitLines(file.read(problems, offset))) texts.push(text);
  return texts;
}

const TEXT = '{"a":"ä😀"}\n{"b":2}\n';

describe.each([
  ["at once", (content: Uint8Array | string) => ({ foundSize: Buffer.byteLength(content) })],
  ["in pieces", () => ({})],
])("a file is read %s", (_how, found) => {
  const utf16 = Buffer.from(`\uFEFF${TEXT}`, "utf16le");
  test.each([
    ["plain", Buffer.from(TEXT), true],
    ["with a byte order mark", Buffer.from(`\uFEFF${TEXT}`), true],
    ["with CRLF", Buffer.from(TEXT.replaceAll("\n", "\r\n")), true],
    ["in gzip", gzipSync(TEXT), false],
    ["in zstd", zstdCompressSync(TEXT), false],
    ["in UTF-16, little end first", utf16, false],
    ["in UTF-16, big end first", Buffer.from(utf16).swap16(), false],
    ["in UTF-16 and gzip", gzipSync(utf16), false],
  ])("%s", async (_name, content, isPlain) => {
    await using file = await opened(content, found(content));
    const problems = new ProblemLog();
    expect(await linesOf(file, problems)).toEqual(['{"a":"ä😀"}', '{"b":2}']);
    expect(file.isPlain).toBe(isPlain);
    const head = Buffer.from(await file.head(problems)).toString("utf8");
    expect(head.replace("\uFEFF", "").replaceAll("\r", "")).toBe(TEXT);
    expect(problems.total).toBe(0);
  });

  test("from an offset on", async () => {
    await using file = await opened(TEXT, found(TEXT));
    expect(await linesOf(file, new ProblemLog(), Buffer.byteLength(TEXT) - 8)).toEqual(['{"b":2}']);
  });

  test("repeatedly, with its problems reported once", async () => {
    const packed = gzipSync("x".repeat(10_000), { level: 0 }).subarray(0, 5000);
    await using file = await opened(packed, found(packed));
    const problems = new ProblemLog();
    const bytes = file.repeatable(problems);
    for await (const _ of bytes) break;
    const lengths = [];
    for (const _ of [1, 2]) {
      let length = 0;
      for await (const chunk of bytes) length += chunk.length;
      lengths.push(length);
    }
    expect(lengths[0]).toBeGreaterThan(0);
    expect(lengths[1]).toBe(lengths[0]);
    expect(problems.first.map(({ code }) => code)).toEqual(["unreadable"]);
  });

  test("an empty file gives nothing", async () => {
    await using file = await opened("", found(""));
    expect(await linesOf(file)).toEqual([]);
    expect(await file.head(new ProblemLog())).toHaveLength(0);
  });

  test("with the same hash before an offset", async () => {
    await using file = await opened(TEXT, found(TEXT));
    const hash = createHash("sha256").update(TEXT.slice(0, 5)).digest();
    expect(Buffer.from((await file.tailHash(5)) ?? [])).toEqual(hash);
    expect(await file.tailHash(1_000)).toBeUndefined();
  });
});

describe("a file that was found to be small", () => {
  test("that has grown since is read to its end", async () => {
    await using file = await opened("line\n".repeat(100_000), { foundSize: 10 });
    expect(await linesOf(file)).toHaveLength(100_000);
  });

  test("is closed once it is read", async () => {
    const path = join(createFolder(), "file.jsonl");
    writeFileSync(path, TEXT);
    await using file = await TranscriptFile.open(path, { foundSize: 1 });
    truncateSync(path, 0);
    expect(await linesOf(file)).toHaveLength(2);
  });

  test("that is gone, or is a folder by now, is reported", async () => {
    const folder = createFolder();
    const open = (path: string) => TranscriptFile.open(path, { foundSize: 1 });
    await expect(open(join(folder, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(open(folder)).rejects.toThrow("is no file");
  });
});

describe("an unreadable file is a problem", () => {
  test.each([
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ])("a %s bomb ends at the limit of the decompressed size", async (_name, pack) => {
    const bomb = pack(Buffer.alloc(8 * 1024 * 1024, "x\n"));
    expect(bomb.length).toBeLessThan(20_000);
    await using file = await opened(bomb, { maxUnpackedBytes: 1024 * 1024 });
    const problems = new ProblemLog();
    const lines = await linesOf(file, problems);
    expect(lines.length).toBeLessThanOrEqual(512 * 1024);
    expect(problems.first.map(({ code }) => code)).toEqual(["unpacks_too_far"]);
  });

  test("damaged compression gives the part before the damage", async () => {
    const packed = gzipSync(Buffer.alloc(4 * 1024 * 1024, TEXT));
    await using file = await opened(packed.subarray(0, packed.length - 100));
    const problems = new ProblemLog();
    expect((await linesOf(file, problems)).length).toBeGreaterThan(0);
    expect(problems.first.map(({ code }) => code)).toEqual(["unreadable"]);
  });

  test("a file truncated while it is read ends there", async () => {
    const path = join(createFolder(), "file.jsonl");
    writeFileSync(path, "line\n".repeat(400_000));
    await using file = await TranscriptFile.open(path);
    truncateSync(path, 10);
    const problems = new ProblemLog();
    expect((await linesOf(file, problems)).slice(0, 2)).toEqual(["line", "line"]);
    expect(problems.first.map(({ code }) => code)).toEqual(["unreadable"]);
  });

  test("a file deleted after it was opened is read, one before is reported", async () => {
    const path = join(createFolder(), "file.jsonl");
    writeFileSync(path, TEXT);
    await using file = await TranscriptFile.open(path);
    rmSync(path);
    expect(await linesOf(file)).toHaveLength(2);
    await expect(TranscriptFile.open(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a sparse file is detected by its allocated bytes", () => {
    const file = { path: "", root: "", mtimeUs: 0 };
    expect(isSparse({ ...file, size: 10 ** 12, allocated: 4_096 })).toBe(true);
    expect(isSparse({ ...file, size: 10 ** 9, allocated: 10 ** 8 })).toBe(false);
    expect(isSparse({ ...file, size: 100, allocated: 0 })).toBe(false);
  });
});

test("the tail hash distinguishes a grown file from a rewritten one", async () => {
  await using before = await opened(TEXT);
  await using grown = await opened(`${TEXT}more\n`);
  await using rewritten = await opened(`${TEXT.replace("2", "3")}more\n`);
  await using cut = await opened("short");
  const offset = Buffer.byteLength(TEXT);
  expect(await grown.tailHash(offset)).toEqual(await before.tailHash(offset));
  expect(await rewritten.tailHash(offset)).not.toEqual(await before.tailHash(offset));
  expect(await cut.tailHash(offset)).toBeUndefined();
});

describe("files beside a transcript", () => {
  function place() {
    const folder = createFolder();
    const root = join(folder, "place");
    mkdirSync(join(root, "a"), { recursive: true });
    writeFileSync(join(root, "top.json"), "top");
    writeFileSync(join(root, "a/beside.json"), "beside");
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync(join(folder, "secret"), join(root, "a/link"));
    return { root, files: accessAround(join(root, "a/file.jsonl"), root) };
  }

  test("are read within the place only", async () => {
    const { root, files } = place();
    expect(await files.readText("beside.json", 100)).toBe("beside");
    expect(await files.readText("../top.json", 100)).toBe("top");
    expect(await files.readText("../../secret", 100)).toBeUndefined();
    expect(await files.readText("link", 100)).toBeUndefined();
    expect(await files.readText(join(root, "top.json"), 100)).toBeUndefined();
    expect(await files.readText("beside.json", 3)).toBeUndefined();
    expect(await files.readBytes("beside.json", 100)).toEqual(Buffer.from("beside"));
    expect(await files.readBytes("link", 100)).toBeUndefined();
    expect(await files.readText("missing", 100)).toBeUndefined();
    expect(await files.readText("nul\0", 100)).toBeUndefined();
    expect(await files.readText(".", 100)).toBeUndefined();
  });

  // Windows has no named pipes in folders.
  test.skipIf(process.platform === "win32")(
    "opening does not wait for the writer of a pipe",
    async () => {
      const { root, files } = place();
      execFileSync("mkfifo", [join(root, "a/pipe.txt")]);
      expect(await files.readText("pipe.txt", 100)).toBeUndefined();
      await expect(TranscriptFile.open(join(root, "a/pipe.txt"))).rejects.toThrow("is no file");
    },
  );

  test("are listed by name", async () => {
    const { files } = place();
    expect(await files.list(".")).toEqual(["beside.json", "link"]);
    expect(await files.list("..")).toEqual(["a", "top.json"]);
    expect(await files.list("../..")).toEqual([]);
    expect(await files.list("beside.json")).toEqual([]);
  });
});
