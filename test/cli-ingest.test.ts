import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli, environmentOf, type Ran, ROOT, type RunOptions } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { fixture } from "./support/transcripts.ts";

/** A home with a store of its own, and the commands in it. */
function world() {
  const home = createFolder();
  const env = { HOME: home, BACKSCROLL_DB: join(home, "store.db"), WORKSTATION_ID: "w1" };
  const cli = (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    callCli(args, { cwd: home, env, ...options });
  const ok = async (...args: string[]): Promise<string> => {
    const ran = await cli(args);
    expect([ran.code, ran.stderr], args.join(" ")).toEqual([0, ""]);
    return ran.stdout;
  };
  const json = async <Value>(...args: string[]) => JSON.parse(await ok(...args, "--json")) as Value;
  mkdirSync(join(home, "chats"));
  const talk = fixture("pi/version-2.jsonl").replace('"Hello"', '"List the open orders"');
  writeFileSync(join(home, "chats/a.jsonl"), talk);
  return { home, env, cli, ok, json };
}

interface Listed {
  readonly sessions: readonly {
    readonly id: string;
    readonly title: string;
    readonly metadata: Record<string, unknown>;
    readonly origin: { readonly key: string };
    readonly exchange_count: number | null;
  }[];
}

interface Status {
  readonly tenants: readonly {
    readonly index: { readonly lag: number; readonly segments: number };
  }[];
}

interface Places {
  readonly places: readonly { readonly source: string; readonly folders: readonly string[] }[];
}

interface Report {
  readonly dry_run: boolean;
  readonly workstation: string;
  readonly totals: {
    readonly files: Record<string, number>;
    readonly sessions: Record<string, number>;
    readonly entries: number;
  };
}

describe("ingest", () => {
  test("reads a folder, and nothing the second time", async () => {
    const { ok, json } = world();
    expect(await ok("ingest", "chats")).toMatch(
      /^Found 1 file in chats: 1 read.*\n {2}pi {2}1 file: 1 new session/,
    );
    const again = await json<Report>("ingest", "chats");
    expect(again).toMatchObject({
      dry_run: false,
      workstation: "w1",
      totals: {
        files: { found: 1, unchanged: 1, read: 0 },
        sessions: { new: 0, grown: 0, forgotten: 0 },
        entries: 0,
      },
    });
    const { sessions } = await json<Listed>("list");
    expect(sessions).toMatchObject([
      {
        project_id: expect.stringMatching(/^[0-9a-f]{8}$/),
        workstation_id: "w1",
        origin: { key: expect.stringMatching(/^w1:[0-9a-f]{8}:/) },
        exchange_count: 1,
        tool_counts: {},
        first_msg_at: expect.any(String),
        last_msg_at: expect.any(String),
        file_mtime: expect.any(String),
        metadata: { titleFrom: "request" },
      },
    ]);
    expect(sessions[0]?.title).not.toBe("");
  });

  test("indexes the stored messages, except for a tail that is too short for a segment", async () => {
    const { home, ok, json } = world();
    const index = async () => (await json<Status>("status")).tenants[0]?.index;
    await ok("ingest", "chats");
    expect(await index()).toMatchObject({ segments: 0, lag: 3 });
    for (let turn = 1; turn <= 100; turn++) {
      writeTurn(home, { id: "many", cwd: "/srv/shop", text: `Question ${turn}`, turn });
    }
    await ok("ingest");
    expect(await index()).toMatchObject({ segments: 1, lag: 0 });
  });

  test("skips long lines, or cuts them, as configured", async () => {
    const { home, json } = world();
    const long = JSON.stringify({
      type: "message",
      id: "x",
      parentId: null,
      timestamp: "2026-05-04T10:00:01.000Z",
      message: { role: "user", content: "word ".repeat(300_000) },
    });
    writeFileSync(join(home, "chats/a.jsonl"), `${fixture("pi/version-2.jsonl")}${long}\n`);
    const problems = async (how: string) => {
      const report = await json<{ totals: { problems: object } }>(
        "ingest",
        "chats",
        "--oversize",
        how,
        "--dry-run",
      );
      return report.totals.problems;
    };
    expect(await problems("skip")).toEqual({ line_too_long: 1 });
    expect(await problems("cut")).toEqual({ line_cut: 1 });
  });

  test("names files of no known format, and how to name their format", async () => {
    const { home, cli } = world();
    mkdirSync(join(home, "foreign"));
    writeFileSync(join(home, "foreign/thing.jsonl"), '{"hello":"world"}\n');
    writeFileSync(join(home, "foreign/notes.txt"), "notes of mine\n");
    for (const how of ["new", "known"]) {
      const ran = await cli(["ingest", "foreign"]);
      expect([ran.code, ran.stdout], how).toEqual([
        0,
        "Found 2 files in foreign: 0 read, 2 not recognised.\n",
      ]);
      const [first, second, ...advice] = ran.stderr.trimEnd().split("\n");
      expect([first, second].sort()).toEqual([
        `  not recognised: ${join(home, "foreign/notes.txt")}`,
        `  not recognised: ${join(home, "foreign/thing.jsonl")}`,
      ]);
      expect(advice).toEqual([
        expect.stringMatching(/^ {2}Read one in a named format: .* ingest FILE --source NAME$/),
        expect.stringMatching(/^ {2}List the formats: .* ingest --help$/),
      ]);
    }
  });

  test("names a folder without possible transcripts, and which files it reads", async () => {
    const { home, ok } = world();
    mkdirSync(join(home, "tables"));
    writeFileSync(join(home, "tables/a.csv"), "1,2\n");
    expect(await ok("ingest", "tables")).toMatch(
      /^No transcripts found in tables\.\nIt searches folders for \.jsonl, .*\nName a file/,
    );
  });

  test("names the folder of each agent's files, also that of another agent", async () => {
    const { home, ok } = world();
    const folder = join(home, ".claude/projects/-srv-shop");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "a.jsonl"), fixture("pi/version-2.jsonl"));
    writeTurn(home, { id: "s", cwd: "/srv/shop", text: "Why twice?", turn: 1 });
    for (const news of ["1 new session, 2 new entries", "nothing new"]) {
      expect(await ok("ingest")).toContain(
        `\n  pi           1 file in ~/.claude/projects: ${news}\n`,
      );
    }
  });

  test("counts agents without files, and lists the searched folders on request", async () => {
    const { home, ok, json } = world();
    writeTurn(home, { id: "s", cwd: "/srv/shop", text: "Why twice?", turn: 1 });
    const { places } = await json<Places>("ingest", "--places");
    const lines = (await ok("ingest")).trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^Found 1 file: 1 read/),
      "  claude-code  1 file in ~/.claude/projects: 1 new session, 1 new entry",
      expect.stringMatching(
        new RegExp(
          `^No files of ${places.length - 1} other formats; .* ingest --places lists where`,
        ),
      ),
    ]);
    expect(places).toContainEqual({
      source: "codex",
      folders: expect.arrayContaining([join(home, ".codex/sessions")]),
    });
    expect(await ok("ingest", "--places")).toMatch(/^codex +~\/\.codex\/sessions$/m);
    expect(await ok("ingest", "--source", "claude-code")).not.toContain("others");
    expect(await ok("ingest", "--source", "pi")).toMatch(
      /^No transcripts found\.\nLooked in:\n {2}pi {2}\S+\n$/,
    );
  });

  test("names invalid options", async () => {
    const { cli } = world();
    for (const [args, message] of [
      [["ingest", "--oversize", "fold"], "one of cut, skip"],
      [["ingest", "--source", "word"], "one of claude-code"],
    ] as const) {
      const ran = await cli(args);
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});

describe("forget", () => {
  test("excludes a session until a forced ingest names its file", async () => {
    const { home, cli, ok, json } = world();
    await ok("ingest", "chats");
    const [session] = (await json<Listed>("list")).sessions;
    const asked = await cli(["forget", session?.id ?? ""]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
    expect(await ok("forget", session?.id ?? "", "--yes")).toMatch(/^Forgot \d+ entries\.\n$/);
    appendFileSync(join(home, "chats/a.jsonl"), "\n");
    const report = await json<Report>("ingest", "chats");
    expect(report.totals.sessions).toMatchObject({ new: 0, forgotten: 1 });
    expect(await ok("ingest", "chats/a.jsonl", "--force")).toContain("new (pi): stored 2 entries");
  });
});

describe("resume and stats", () => {
  test("a session is resumed by its own agent's command", async () => {
    const { cli, ok, json } = world();
    await ok("ingest", "chats");
    const [session] = (await json<Listed>("list")).sessions;
    const ran = await cli(["resume", session?.id ?? ""]);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("pi --session ")]);
  });

  test("an agent without such a command exits with 1", async () => {
    const { home, cli, ok, json } = world();
    const file = join(home, "claw.json");
    copyFileSync(join(ROOT, "test/fixtures/claw-code/version-1.json"), file);
    await ok("ingest", file);
    const [session] = (await json<Listed>("list")).sessions;
    const ran = await cli(["resume", session?.id ?? ""]);
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toMatch(/claw-code has no command for that/);
  });

  test("sums sessions, messages and tokens", async () => {
    const { ok, json } = world();
    expect(await ok("stats", "--db", ":memory:")).toMatch(
      /^No sessions\.\nThe store is empty\. To fill it: .* ingest/,
    );
    await ok("ingest", "chats");
    expect(await ok("stats")).toMatch(
      /^AGENT +SESSIONS +MESSAGES +INPUT .* TOKENS\npi +1 +1 +0 .* 0$/m,
    );
    const stats = await json<Record<string, unknown>>("stats");
    expect(stats).toMatchObject({
      total: { sessions: 1, messages: 1 },
      agents: [{ agent: "pi", sessions: 1 }],
      projects: [{ project_path: expect.any(String) }],
      days: [{ sessions: 1 }],
    });
  });
});

describe("without a command", () => {
  test("a machine without transcripts is offered the demo", async () => {
    const { ok } = world();
    expect(await ok()).toMatch(
      /No transcripts found.*claude-code +~\/\.claude\/projects.*backscroll\.js demo/s,
    );
  });

  test("demo shows a search, a window and a context, and leaves the user's store alone", async () => {
    const { cli, ok, home } = world();
    const text = await ok("demo");
    expect(text).toMatch(/1\. A search: .*2\. The messages around.*3\. What a model/s);
    const db = /into (\S+)$/m.exec(text)?.[1] ?? "";
    expect((await cli(["list", "--db", db])).stdout).toContain("Cron runs twice");
    rmSync(join(db, ".."), { recursive: true });
    const own = await cli(["status"]);
    expect([own.code, home]).toEqual([4, home]);
  });
});

test("watch stores existing transcripts, and ends cleanly when interrupted", async () => {
  const { home, env, ok } = world();
  const bin = join(ROOT, "bin/backscroll.js");
  const child = spawn(process.execPath, [bin, "watch"], { cwd: home, env: environmentOf(env) });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (output === "") child.kill("SIGINT");
    output += text;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, output]).toEqual([0, expect.stringMatching(/^Watching \d+ folders.*\nStored 0/)]);
  expect(await ok("list")).toMatch(/^No sessions\.\nThe store is empty\. To fill it: .* ingest/);
});
