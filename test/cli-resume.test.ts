import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
      [["--in", "vim"], /known are claude-code, codex, pi, opencode, gemini-cli/],
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
