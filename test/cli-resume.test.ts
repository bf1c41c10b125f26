import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { callCli, type Ran } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

/** A home in which Claude Code has talked once about a project, and the commands in it. */
async function world(onFinished: Parameters<typeof createFolder>[0] = onTestFinished) {
  const home = createFolder(onFinished);
  const project = join(home, "shop");
  mkdirSync(project);
  const env = {
    HOME: home,
    BACKSCROLL_DB: join(home, "store.db"),
    WORKSTATION_ID: "w1",
    CODEX_HOME: "",
    CLAUDE_CONFIG_DIR: "",
    SESSIONS_DIR: "",
  };
  const cli = (...args: string[]): Promise<Ran> => callCli(args, { cwd: home, env });
  const json = async <Value>(...args: string[]) => {
    const ran = await cli(...args, "--json");
    expect(ran.code, ran.stderr).toBe(0);
    return JSON.parse(ran.stdout) as Value;
  };
  const folder = join(home, ".claude/projects/-shop");
  mkdirSync(folder, { recursive: true });
  const base = { sessionId: ID, cwd: project, isSidechain: false };
  const lines = [
    {
      ...base,
      type: "user",
      uuid: "u1",
      parentUuid: null,
      timestamp: "2026-05-04T10:00:00Z",
      message: { role: "user", content: "Where does the wombat sleep?" },
    },
    {
      ...base,
      type: "assistant",
      uuid: "u2",
      parentUuid: "u1",
      timestamp: "2026-05-04T10:00:01Z",
      message: { role: "assistant", content: [{ type: "text", text: "In the quokka's barn." }] },
    },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, `${ID}.jsonl`), text);
  expect((await cli("ingest")).code).toBe(0);
  return { home, project, cli, json };
}

const ID = "0c0c0c0c-0000-4000-8000-000000000001";
const OTHER = "77777777-2222-4333-8444-555555555555";

interface Native {
  readonly id: string;
  readonly file: string;
  readonly command: string;
}

interface Found {
  readonly hits: readonly { readonly session_id: string }[];
}

describe("resume --in", () => {
  test("--native copies the session; the ingested copy is found once", async () => {
    const { project, cli, json } = await world();
    const plan = await json<Native>("resume", ID, "--in", "codex", "--native", "--dry-run");
    expect(existsSync(plan.file)).toBe(false);
    const made = await json<Native>("resume", ID, "--in", "codex", "--native");
    expect(made).toMatchObject({
      agent: "codex",
      native: true,
      messages: 2,
      losses: [],
      registered: null,
      command: `cd ${project} && codex resume ${made.id}`,
    });
    expect(readFileSync(made.file, "utf8")).toContain("In the quokka's barn.");
    expect((await cli("ingest")).stdout).toMatch(/codex +1 file.*1 new session/);
    expect((await json<Found>("search", "wombat")).hits).toHaveLength(1);
    const back = await cli("resume", made.id, "--in", "claude-code", "--native");
    expect([back.code, back.stdout]).toEqual([
      0,
      expect.stringMatching(/^cd \S+ && claude --resume [\w-]{36}\n$/),
    ]);
    expect(back.stderr).toMatch(/copied 2 messages of .* to .*projects/);
    await cli("ingest");
    expect((await json<Found>("search", "quokka")).hits).toHaveLength(1);
    expect((await json<{ sessions: object[] }>("list")).sessions).toHaveLength(3);
  });

  test("a briefing is written to its own file, or printed", async () => {
    const { home, cli, json } = await world();
    const made = await json<Native & { tokens: number }>("resume", ID, "--in", "codex");
    expect(made.file.startsWith(join(home, ".backscroll/briefings"))).toBe(true);
    expect(made.command).toContain(`codex "$(cat ${made.file})"`);
    const printed = await cli("resume", ID, "--in", "pi", "--print", "--budget", "400");
    expect(printed.stdout).toContain("user: Where does the wombat sleep?");
    expect(printed.stdout).toContain("<recalled-context>");
    expect(readFileSync(made.file, "utf8")).toContain("assistant: In the quokka's barn.");
  });

  describe("that is wrong", () => {
    let cli: Awaited<ReturnType<typeof world>>["cli"];
    beforeAll(async () => {
      ({ cli } = await world(afterAll));
    });

    test.each([
      [
        ["--in", "vim"],
        /known are claude-code, codex, pi, opencode, gemini-cli, qwen-code, copilot-cli, kimi-code/,
      ],
      [["--in", "codex", "--budget", "10"], /--budget must be 256 to 30,000 tokens, not 10/],
      [["--in", "codex", "--native", "--budget", "500"], /--budget is for a briefing/],
      [["--in", "codex", "--cwd", "gone"], /gone does not exist; name another one with --cwd/],
      [["--native"], /--native needs --in AGENT/],
    ])("%j is refused with the reason", async (args, why) => {
      const ran = await cli("resume", ID, ...args);
      expect([ran.code, ran.stdout]).toEqual([2, ""]);
      expect(ran.stderr).toMatch(why);
    });
  });
});

test("a folder's name commands no terminal, and the command still leads to it", async () => {
  const { home, project, cli } = await world();
  const evil = join(home, "shop\u001b]0;mine\u0007\u001b[31m");
  mkdirSync(evil);
  const folder = join(home, ".claude/projects/-shop");
  const lines = readFileSync(join(folder, `${ID}.jsonl`), "utf8").replaceAll(ID, OTHER);
  const moved = lines.replaceAll(JSON.stringify(project), JSON.stringify(evil));
  writeFileSync(join(folder, `${OTHER}.jsonl`), moved);
  expect((await cli("ingest")).code).toBe(0);
  const word = `$'${home}/shop\\033]0;mine\\007\\033[31m'`;
  const own = await cli("resume", OTHER);
  expect([own.code, own.stdout]).toEqual([0, `cd ${word} && claude --resume ${OTHER}\n`]);
  for (const more of [[], ["--native"]]) {
    const other = await cli("resume", OTHER, "--in", "codex", ...more);
    expect([other.code, other.stdout]).toEqual([0, expect.stringContaining(`cd ${word} && codex`)]);
  }
});

describe("resume --restore", () => {
  /** The transcript, a sub-agent of it, and what they held when they were read. */
  async function talked() {
    const made = await world();
    const folder = join(made.home, ".claude/projects/-shop");
    const file = join(folder, `${ID}.jsonl`);
    const child = join(folder, ID, "subagents/agent-7.jsonl");
    mkdirSync(join(child, ".."), { recursive: true });
    const line = {
      sessionId: ID,
      agentId: "7",
      cwd: made.project,
      isSidechain: true,
      type: "user",
      uuid: "s1",
      parentUuid: null,
      timestamp: "2026-05-04T10:00:02Z",
      message: { role: "user", content: "Count the wombats." },
    };
    writeFileSync(child, `${JSON.stringify(line)}\n`);
    expect((await made.cli("ingest")).code).toBe(0);
    return { ...made, folder, file, child, kept: [file, child].map((path) => readFileSync(path)) };
  }

  test("puts deleted files back byte for byte, new to whoever deletes by age", async () => {
    const { cli, folder, file, child, kept } = await talked();
    rmSync(folder, { recursive: true });
    const told = await cli("resume", ID);
    expect([told.code, told.stdout]).toEqual([1, ""]);
    expect(told.stderr).toContain(`its transcript ${file} is gone; --restore puts it back`);
    const before = Date.now();
    const ran = await cli("resume", ID, "--restore");
    expect(ran.stderr).toContain("restored 2 files");
    expect(ran.stdout).toContain(`claude --resume ${ID}`);
    expect([file, child].map((path) => readFileSync(path))).toEqual(kept);
    expect(statSync(file).mtimeMs).toBeGreaterThanOrEqual(before - 1_000);
    expect((await cli("ingest")).stdout).not.toContain("new entr");
  });

  test("--dry-run says what would be written, and claims nothing of it", async () => {
    const { cli, folder, file } = await talked();
    rmSync(folder, { recursive: true });
    const told = await cli("resume", ID, "--restore", "--dry-run");
    expect([told.code, told.stdout]).toEqual([1, ""]);
    expect(told.stderr).toMatch(/would restore 2 files .*; 0 were there/);
    expect(told.stderr).toContain(file);
    const asked = await cli("resume", ID, "--restore", "--dry-run", "--json");
    expect(asked.code).toBe(1);
    const answer = JSON.parse(asked.stdout) as { restored: readonly object[] };
    expect(answer).toMatchObject({ gone: file, command: null });
    expect(answer.restored).toMatchObject([
      { path: file, outcome: "would_write" },
      { outcome: "would_write" },
    ]);
    expect(existsSync(folder)).toBe(false);
    await cli("resume", ID, "--restore");
    const there = await cli("resume", ID, "--restore", "--dry-run");
    expect([there.code, there.stdout]).toEqual([0, expect.stringContaining("claude --resume")]);
    expect(there.stderr).toContain("would restore 0 files");
  });

  test("completes a file that is a beginning, and leaves any other alone", async () => {
    const { cli, file, child, kept } = await talked();
    const [whole = Buffer.of()] = kept;
    writeFileSync(file, whole.subarray(0, 40));
    writeFileSync(child, "another");
    const first = await cli("resume", ID, "--restore");
    expect(first.stderr).toContain(`left alone: ${child} has other content`);
    expect(readFileSync(file)).toEqual(whole);
    expect(readFileSync(child, "utf8")).toBe("another");
    const longer = Buffer.concat([whole, Buffer.from("{}\n")]);
    writeFileSync(file, longer);
    expect((await cli("resume", ID, "--restore")).stderr).toContain("restored 0 files");
    expect(readFileSync(file)).toEqual(longer);
  });

  test("follows a project that was moved", async () => {
    const { home, cli, folder, project, kept } = await talked();
    rmSync(folder, { recursive: true });
    const moved = join(home, "market");
    renameSync(project, moved);
    const ran = await cli("resume", ID, "--restore", "--cwd", moved);
    expect(ran.stdout).toContain(`cd ${moved} && claude --resume ${ID}`);
    const name = moved.replace(/[^A-Za-z0-9]/g, "-");
    const place = join(home, ".claude/projects", name, `${ID}.jsonl`);
    expect(readFileSync(place)).toEqual(kept[0]);
  });

  test("writes nowhere but into the folders of its agent, whatever path is stored", async () => {
    const { home, cli, folder } = await talked();
    rmSync(folder, { recursive: true });
    const TABLES = ["original_parts", "original_sessions", "originals"];
    const { DatabaseSync } = await import("node:sqlite");
    for (const path of [
      "/srv/x/.ssh/authorized_keys",
      "/a/.claude/projects/../../.ssh/config",
      "/a/.claude/projects/-a/run.sh",
    ]) {
      const db = new DatabaseSync(join(home, "store.db"));
      for (const table of TABLES) {
        db.prepare(`UPDATE ${table} SET path = ? WHERE path NOT LIKE '%subagents%'`).run(path);
      }
      db.close();
      const ran = await cli("resume", ID, "--restore");
      expect(ran.stderr).toContain(
        `not restored: ${path} is not where its agent keeps the files of a session`,
      );
      expect(existsSync(join(home, ".ssh"))).toBe(false);
    }
  });

  test("for many sessions at once, shown first", async () => {
    const { cli, json, folder, file } = await talked();
    rmSync(folder, { recursive: true });
    const plan = await cli("resume", "--restore", "--all", "--dry-run");
    expect(plan.stderr).toContain("would restore 2 files");
    expect(existsSync(file)).toBe(false);
    const { files } = await json<{ files: readonly object[] }>("resume", "--restore", "--all");
    expect(files).toHaveLength(2);
    expect(existsSync(file)).toBe(true);
    const wrong = await cli("resume", "--all");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--restore")]);
  });

  test("a file that cannot be put back is told, and keeps no other from it", async () => {
    const { home, cli, json, file, child, kept } = await talked();
    rmSync(file);
    rmSync(child);
    symlinkSync(join(home, "nowhere"), file);
    const many = await cli("resume", "--restore", "--all");
    expect(many.stderr).toContain("restored 1 file");
    expect(many.stderr).toContain(`left alone: ${file} has other content`);
    expect(readFileSync(child)).toEqual(kept[1]);
    expect(existsSync(join(home, "nowhere"))).toBe(false);

    const folder = join(file, "..");
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "a file in the place of the folder");
    const one = await cli("resume", ID, "--restore");
    expect([one.code, one.stdout]).toEqual([1, ""]);
    expect(one.stderr).toMatch(/not restored: \S+: (?:ENOTDIR|EEXIST)/);
    rmSync(folder);
    const { restored } = await json<{ restored: { outcome: string }[] }>("resume", ID, "--restore");
    expect(restored.map(({ outcome }) => outcome)).toEqual(["written", "written"]);
  });

  test("completes the file that a link leads to", async () => {
    const { home, cli, file, kept } = await talked();
    const synced = join(home, "synced.jsonl");
    writeFileSync(synced, (kept[0] ?? Buffer.of()).subarray(0, 40));
    rmSync(file);
    symlinkSync(synced, file);
    expect((await cli("resume", ID, "--restore")).stderr).toContain("restored 1 file");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(synced)).toEqual(kept[0]);
  });

  test("one folder is not that of the sessions of several projects", async () => {
    const { home, cli, file } = await talked();
    const other = join(home, ".claude/projects/-other");
    mkdirSync(other);
    const line = readFileSync(file, "utf8").replaceAll(ID, OTHER).replaceAll("/shop", "/other");
    writeFileSync(join(other, `${OTHER}.jsonl`), line);
    expect((await cli("ingest")).code).toBe(0);
    rmSync(join(home, ".claude"), { recursive: true });
    const ran = await cli("resume", "--restore", "--all", "--cwd", "/srv/market");
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("--project")]);
    expect(existsSync(join(home, ".claude"))).toBe(false);
    const one = await cli("resume", "--restore", "--project", "shop", "--cwd", "/srv/market");
    expect(one.stderr).toContain(`.claude/projects/-srv-market/${ID}.jsonl`);
  });
});
