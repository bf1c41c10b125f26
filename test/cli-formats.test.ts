import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callCli, type Ran, ROOT, type RunOptions } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { fixture, jsonLines } from "./support/transcripts.ts";

/** A store of its own, and the commands on it. */
function world() {
  const folder = createFolder();
  const db = join(folder, "store.db");
  const cli = (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    callCli(args, { cwd: folder, env: { HOME: folder, BACKSCROLL_DB: db }, ...options });
  const ok = async (...args: string[]): Promise<string> => {
    const ran = await cli(args);
    expect([ran.code, ran.stderr], args.join(" ")).toEqual([0, ""]);
    return ran.stdout;
  };
  return { folder, db, cli, ok };
}

const PI = join(ROOT, "test/fixtures/pi/version-3.jsonl");
const CLAW = join(ROOT, "test/fixtures/claw-code/version-1.json");

interface Imported {
  readonly dry_run: boolean;
  readonly files: readonly {
    readonly file: string;
    readonly source: string;
    readonly sessions: readonly { readonly session_id: string; readonly entries: number }[];
    readonly problem_counts: Record<string, number>;
    readonly problems: readonly Record<string, unknown>[];
  }[];
  readonly failed: readonly { readonly file: string; readonly error: { readonly code: string } }[];
}

describe("import", () => {
  test("stores files of any known format, reports the result, and is idempotent", async () => {
    const { ok, cli } = world();
    expect(await ok("import", CLAW)).toMatch(
      /^[0-9A-Z]{26} {2}new \(claw-code\): stored 2 entries, 0 there already\n$/,
    );
    const first = await cli(["import", CLAW, PI]);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/version-1\.json: unchanged since it was read last/);
    expect(first.stdout).toMatch(
      /new \(pi\): stored 16 entries.*; problems: 1 × not allowed by the format\n/,
    );
    expect(first.stderr).toMatch(/version-3\.jsonl:16: a record of the type "weather"/);
    const hits = await ok("search", "systemd");
    expect(hits).toContain("Look at systemd.");
  });

  test("gives programs one document, with each problem and its line", async () => {
    const { cli, folder } = world();
    const content = fixture("pi/version-2.jsonl");
    writeFileSync(join(folder, "torn.jsonl"), `${content}{"bad\n{"type":"mess`);
    const ran = await cli(["import", "torn.jsonl", "--json"]);
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    const [file] = (JSON.parse(ran.stdout) as Imported).files;
    expect(file).toMatchObject({
      file: "torn.jsonl",
      source: "pi",
      sessions: [{ created: true, entries: 2, skipped: 0 }],
      problem_counts: { not_json: 1, torn_line: 1 },
      problems: [
        { line: 4, code: "not_json" },
        { line: 5, code: "torn_line" },
      ],
    });
  });

  test("reads a pipe, and a named format", async () => {
    const { cli } = world();
    const input = fixture("claw-code/version-1.json");
    const piped = await cli(["import", "-"], { input });
    expect([piped.code, piped.stderr]).toEqual([0, ""]);
    const again = await cli(["import", "-", "--source", "claw-code"], { input });
    expect(again.stdout).toContain("2 there already");
  });

  test("a dry run counts, stores nothing and creates no store", async () => {
    const { ok, db } = world();
    const text = await ok("import", CLAW, "--dry-run");
    expect(text).toBe("a new session  new (claw-code): would store 2 entries, 0 there already\n");
    expect(existsSync(db)).toBe(false);
    await ok("import", CLAW);
    const forced = await ok("import", CLAW, "--dry-run", "--force");
    expect(forced).toContain("would store 0 entries, 2 there already");
  });

  test("refuses unknown formats, alone or among others", async () => {
    const { cli, folder } = world();
    writeFileSync(join(folder, "notes.txt"), "nothing of the kind\n");
    writeFileSync(join(folder, "empty.jsonl"), "");
    mkdirSync(join(folder, "sub"));
    const alone = await cli(["import", "notes.txt"]);
    expect([alone.code, alone.stdout]).toEqual([2, ""]);
    expect(alone.stderr).toBe(
      "backscroll: notes.txt is not a transcript of a known format; --source NAME reads it as one, and ingest --help lists the names (unknown_format)\n",
    );
    const names = ["notes.txt", "empty.jsonl", "missing.jsonl", "sub", CLAW];
    const among = await cli(["import", ...names, "--json"]);
    expect(among.code).toBe(2);
    const { files, failed } = JSON.parse(among.stdout) as Imported;
    expect(files.map(({ file }) => file)).toEqual([CLAW]);
    expect(failed.map(({ file, error }) => [file, error.code])).toEqual([
      ["notes.txt", "unknown_format"],
      ["empty.jsonl", "unknown_format"],
      ["missing.jsonl", "invalid_input"],
    ]);
    const source = await cli(["import", CLAW, "--source", "word"]);
    expect([source.code, source.stderr]).toEqual([2, expect.stringMatching(/one of .*claw-code/)]);
  });

  test("continues a grown file, wherever it lies by then", async () => {
    const { ok, folder } = world();
    const lines = fixture("pi/version-1.jsonl").trimEnd().split("\n");
    writeFileSync(join(folder, "a.jsonl"), `${lines.slice(0, 3).join("\n")}\n`);
    await ok("import", "a.jsonl");
    copyFileSync(join(ROOT, "test/fixtures/pi/version-1.jsonl"), join(folder, "b.jsonl"));
    expect(await ok("import", "b.jsonl")).toMatch(/known \(pi\): stored 3 entries, 2 there/);
  });
});

describe("export", () => {
  async function imported(file: string) {
    const { cli, ...rest } = world();
    const ran = await cli(["import", file, "--json"]);
    const id = (JSON.parse(ran.stdout) as Imported).files[0]?.sessions[0]?.session_id ?? "";
    return { cli, ...rest, id };
  }

  test("writes imported sessions unchanged", async () => {
    const { ok, id } = await imported(CLAW);
    const text = await ok("export", id, "--format", "claw-json");
    expect(JSON.parse(text)).toEqual(JSON.parse(fixture("claw-code/version-1.json")));
    const { cli, id: other } = await imported(PI);
    const ran = await cli(["export", other, "--format", "pi-jsonl"]);
    expect(jsonLines(ran.stdout)).toEqual(jsonLines(fixture("pi/version-3.jsonl")));
  });

  test("reports losses on standard error, and in JSON beside a file", async () => {
    const { cli, id, folder } = await imported(PI);
    const ran = await cli(["export", id, "--format", "html", "page.html", "--json"]);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/^html cannot hold: 1 branches, /);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      session_id: id,
      format: "html",
      file: join(folder, "page.html"),
      losses: expect.arrayContaining([{ what: "branches", count: 1 }]),
    });
    expect(readFileSync(join(folder, "page.html"), "utf8")).toMatch(/^<!doctype html>/);
    expect(statSync(join(folder, "page.html")).mode & 0o777).toBe(0o600);
    const again = await cli(["export", id, "--format", "html", "page.html"]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists already")]);
  });

  test("follows another leaf", async () => {
    const { cli, id } = await imported(PI);
    const show = await cli(["show", id, "--tree", "--json"]);
    const { entries } = JSON.parse(show.stdout) as { entries: { id: string; kind: string }[] };
    const leaf = entries.find(({ kind }) => kind === "compaction")?.id ?? "";
    const all = ["export", id, "--format", "claw-jsonl", "--leaf", leaf];
    const short = jsonLines((await cli(all)).stdout);
    expect(short[1]).toMatchObject({ type: "compaction", summary: "The job is listed once." });
    const full = jsonLines((await cli([...all, "--full"])).stdout);
    expect(full.filter(({ type }) => type === "message")).toHaveLength(6);
    const missing = await cli(["export", id, "--format", "markdown", "--leaf", "nowhere"]);
    expect(missing.code).toBe(1);
  });

  test("masks secrets by default", async () => {
    const { ok, cli } = world();
    const id = (await ok("new", "--agent", "coder", "--by", "ana")).trim();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    await ok("append", id, `my token is ${secret}`);
    for (const format of ["claw-json", "claw-jsonl", "pi-jsonl", "atif", "markdown", "html"]) {
      const masked = await cli(["export", id, "--format", format]);
      expect([masked.code, masked.stdout.includes(secret)], format).toEqual([0, false]);
      const raw = await cli(["export", id, "--format", format, "--raw"]);
      expect([raw.code, raw.stdout.includes(secret)], format).toEqual([0, true]);
    }
  });

  test.each([
    [["export"], "export needs a session, or --all"],
    [["export", "x", "--format", "word"], "no format word"],
    [["export", "x", "--format", "html", "--full"], "leave out --full"],
    [["export", "--all", "--format", "html"], "--all exports whole sessions; leave out --format"],
    [["export", "--all", "a", "b"], "one FILE"],
  ])("reports the mistake in %j", async (args, message) => {
    const { cli } = world();
    const ran = await cli(args);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("export --original", () => {
  test("gives the ingested file back, byte for byte", async () => {
    const { cli, ok, folder } = world();
    const { files } = JSON.parse(await ok("import", PI, "--json")) as Imported;
    const id = files[0]?.sessions[0]?.session_id ?? "";
    expect(await ok("export", id, "--original")).toBe(readFileSync(PI, "utf8"));
    const copy = join(folder, "copy.jsonl");
    const told = JSON.parse(await ok("export", id, "--original", copy, "--json"));
    expect(told).toMatchObject({ path: PI, source: "pi", size: statSync(PI).size, file: copy });
    expect(readFileSync(copy)).toEqual(readFileSync(PI));
    const other = await cli(["export", id, "--original", "--path", "/none"]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(PI)]);
  });

  test("gives the reason if there is none", async () => {
    const { cli, ok } = world();
    await ok("import", CLAW, "--no-originals");
    const { sessions } = JSON.parse(await ok("list", "--json")) as { sessions: { id: string }[] };
    const ran = await cli(["export", sessions[0]?.id ?? "", "--original"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("--no-originals")]);
  });
});
