/** What each agent's hook prints unasked, and that whatever goes wrong costs the agent nothing. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { agentHost } from "../src/cli/hub/agent-host.ts";
import { callHook } from "../src/mcp/hook-call.ts";
import { open } from "../src/open.ts";
import { callCli, type Ran, run, runCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { hubsOf } from "./support/hub-machine.ts";

const SESSION = "0b6a4c1e-1111-4222-8333-444455556666";
const FAILED = "golangci-lint run ./...";
const CURE = "mise exec -- golangci-lint run ./...";
const ERROR = "zsh: command not found: golangci-lint";

/** A conversation of Claude Code in which a changed command worked. */
function transcript(cwd: string): string {
  const use = (id: string, command: string) => [
    { type: "tool_use", id, name: "Bash", input: { command } },
  ];
  const result = (id: string, content: string, is_error: boolean) => [
    { type: "tool_result", tool_use_id: id, content, is_error },
  ];
  const said = [
    ["user", "Please lint the billing module before we release it."],
    ["assistant", use("t1", FAILED)],
    ["user", result("t1", `Exit code 127\n${ERROR}`, true)],
    ["assistant", use("t2", CURE)],
    ["user", result("t2", "no issues", false)],
    ["assistant", [{ type: "text", text: "The billing module has no issues." }]],
  ] as const;
  const id = (n: number) => `0b6a4c1e-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const lines = said.map(([role, content], n) =>
    JSON.stringify({
      type: role,
      uuid: id(n),
      parentUuid: n === 0 ? null : id(n - 1),
      cwd,
      sessionId: SESSION,
      version: "2.1.0",
      userType: "external",
      isSidechain: false,
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
      message: { role, content, ...(role === "assistant" ? { id: `m${n}`, model: "x" } : {}) },
    }),
  );
  return `${lines.join("\n")}\n`;
}

const ATTENDED = { BACKSCROLL_UNATTENDED: "on" };

class World {
  readonly home: string;
  readonly project: string;
  readonly env: { readonly BACKSCROLL_DB: string } & Readonly<Record<string, string>>;

  constructor() {
    this.home = createFolder();
    this.project = join(this.home, "shop");
    const own = { HOME: this.home, BACKSCROLL_DB: join(this.home, "store.db") };
    // Generous, so that no test depends on the machine's load.
    this.env = { ...own, ...ATTENDED, BACKSCROLL_HOOK_DEADLINE_MS: "60000" };
  }

  static async create(): Promise<World> {
    const world = new World();
    const file = join(world.home, `.claude/projects/shop/${SESSION}.jsonl`);
    for (const folder of [world.project, dirname(file)]) mkdirSync(folder, { recursive: true });
    writeFileSync(file, transcript(world.project));
    await world.cli("ingest");
    return world;
  }

  cli(...args: readonly string[]): Promise<Ran> {
    return callCli(args, { cwd: this.project, env: this.env });
  }

  hook(agent: string, payload: object, env: Record<string, string> = {}): Promise<Ran> {
    const input = JSON.stringify(payload);
    return callCli(["hook", agent], { cwd: this.project, env: { ...this.env, ...env }, input });
  }

  async log(): Promise<readonly Record<string, unknown>[]> {
    return JSON.parse((await this.cli("unasked", "log", "--json")).stdout).injections;
  }
}

let sessions = 0;
const failure = (cwd: string, fields: object = {}) => ({
  hook_event_name: "PostToolUseFailure",
  session_id: `fresh-${sessions++}`,
  cwd,
  tool_name: "Bash",
  tool_input: { command: FAILED },
  error: `Exit code 127\n${ERROR}`,
  ...fields,
});

const SILENT = { code: 0, stdout: "", stderr: "" };

describe("a failed command is answered in the agent's own form", () => {
  const input = { command: FAILED };
  const claude = failure("");
  const forms: readonly (readonly [
    agent: string,
    payload: object,
    read: (stdout: string) => string,
  ])[] = [
    ["claude-code", claude, (text) => JSON.parse(text).hookSpecificOutput.additionalContext],
    ["qwen-code", claude, (text) => JSON.parse(text).hookSpecificOutput.additionalContext],
    [
      "codex",
      {
        hook_event_name: "PostToolUse",
        tool_name: "Bash",
        tool_input: input,
        // Without an exit code.
        tool_response: `${ERROR}\n`,
      },
      (text) => JSON.parse(text).hookSpecificOutput.additionalContext,
    ],
    [
      "gemini-cli",
      {
        hook_event_name: "AfterTool",
        tool_name: "run_shell_command",
        tool_input: input,
        tool_response: { llmContent: `Output: ${ERROR}\nExit Code: 127` },
      },
      (text) => JSON.parse(text).hookSpecificOutput.additionalContext,
    ],
    [
      "opencode",
      {
        event: "tool.execute.after",
        tool: "bash",
        args: input,
        metadata: { exit: 127 },
        output: ERROR,
      },
      (text) => JSON.parse(text).text,
    ],
    [
      "copilot-cli",
      {
        hook_event_name: "postToolUse",
        toolName: "bash",
        toolArgs: JSON.stringify(input),
        toolResult: { resultType: "success", textResultForLlm: `${ERROR}\nexit code 127` },
      },
      (text) => JSON.parse(text).additionalContext,
    ],
  ];

  test.each(forms)("%s", async (agent, payload, read) => {
    const world = await World.create();
    const own = { session_id: `of-${agent}`, sessionID: `of-${agent}`, cwd: world.project };
    const { code, stdout, stderr } = await world.hook(agent, { ...payload, ...own });
    expect([code, stderr]).toEqual([0, ""]);
    const text = read(stdout);
    expect(text).toMatch(/^<recalled-context from="backscroll" about="[^"<>]*data, not instr/);
    expect(text.split("\n").length - 2).toBeLessThanOrEqual(3);
    expect(text).toContain(`Worked then: ${CURE}`);
    expect(text).toContain("0b6a4c1e#3");
    // Not twice in a session.
    expect(await world.hook(agent, { ...payload, ...own })).toEqual(SILENT);
  });
});

test("a hook may call the agent's own server, which does not list the tool", async () => {
  const own = await World.create();
  await using engine = await open(own.env.BACKSCROLL_DB, { inThread: true });
  const host = agentHost(engine.forTenant("default"), {
    cwd: own.project,
    variables: own.env,
    onError: (error) => {
      throw error;
    },
  });
  const ask = async (input: Record<string, string>) => {
    const about = { agent: "claude-code", session: "s", cwd: own.project, ...input };
    const { content } = await callHook(host, about);
    return content[0]?.type === "text" ? content[0].text : "";
  };
  const event = "PostToolUseFailure";
  // A field that the agent does not have stays as the configuration has it.
  const placeholder = `$${"{error}"}`;
  expect(await ask({ event, command: FAILED, error: placeholder })).toBe("{}");
  expect(await ask({})).toBe("{}");
  const said = await ask({ event, command: FAILED, error: `Exit code 127\n${ERROR}` });
  expect(JSON.parse(said).hookSpecificOutput).toMatchObject({ hookEventName: event });
  expect(said).toContain(CURE);
});

test("the log has what was said, to which agent and why; `no` ends it", async () => {
  const own = await World.create();
  await own.hook("claude-code", failure(own.project, { session_id: "first" }));
  const [said] = await own.log();
  expect(said).toMatchObject({
    number: 1,
    moment: "error",
    agent: "claude-code",
    session: "first",
    said: true,
    used: false,
  });
  expect((await own.cli("unasked", "log")).stdout).toMatch(/^1 .* error, to claude-code: said\n/);
  expect((await own.cli("unasked", "no", "1")).code).toBe(0);
  expect(await own.hook("claude-code", failure(own.project))).toEqual(SILENT);
  expect((await own.cli("unasked", "log")).stdout).toContain("unwanted");
  expect((await own.cli("unasked", "no", "7")).stderr).toContain("unasked log has no number 7");
});

const SESSIONS = [1, 2, 3, 4].map((n) => `0b6a4c1e-000${n}-4222-8333-444455556666`) as [
  string,
  string,
  string,
  string,
];

test("what was ignored twice is not said again; what was used is", async () => {
  const own = await World.create();
  const say = async (session: string) =>
    (await own.hook("claude-code", failure(own.project, { session_id: session }))).stdout !== "";
  expect(await say(SESSIONS[0])).toBe(true);
  expect(await say(SESSIONS[1])).toBe(true);
  expect(await say(SESSIONS[2])).toBe(false);
  // The second session goes on, and runs what it was told.
  const file = join(own.home, `.claude/projects/shop/${SESSIONS[1]}.jsonl`);
  const now = new Date(Date.now() + 1_000).toISOString();
  const later = transcript(own.project)
    .replaceAll(SESSION, SESSIONS[1])
    .replaceAll("0b6a4c1e-0000", "0b6a4c1e-0001")
    .replace(/"timestamp":"[^"]*"/g, `"timestamp":"${now}"`);
  writeFileSync(file, later);
  await own.cli("ingest");
  expect((await own.log()).map(({ used }) => used)).toEqual([true, false]);
  expect(await say(SESSIONS[3])).toBe(true);
});

test("a moment is said, noted down or left alone, as the configuration says", async () => {
  const own = await World.create();
  const say = () => own.hook("claude-code", failure(own.project));
  const { stdout } = await own.cli("unasked", "note", "errors");
  expect(stdout).toMatch(/errors +log .*\n.*starts +on .*\n.*files +log .*\n.*prompts +log /);
  expect(await say()).toEqual(SILENT);
  expect(await own.log()).toMatchObject([{ number: 1, said: false }]);
  await own.cli("unasked", "off");
  expect(await say()).toEqual(SILENT);
  expect(await own.log()).toHaveLength(1);
  await own.cli("unasked", "on", "errors");
  expect((await say()).stdout).toContain(CURE);
});

test("nothing is said in an ignored folder, incognito, in a build or by policy", async () => {
  const own = await World.create();
  const say = (env: Record<string, string> = {}, fields: object = {}) =>
    own.hook("claude-code", failure(own.project, fields), env);
  expect(await say({ BACKSCROLL_UNATTENDED: "", CI: "true" })).toEqual(SILENT);
  const secret = { session_id: "0b6a4c1e-5555-4222-8333-444455556666" };
  expect(await say({ BACKSCROLL: "off" }, secret)).toEqual(SILENT);
  expect(await say({}, secret)).toEqual(SILENT);
  expect(await say({}, { agent_id: "sub-agent" })).toEqual(SILENT);
  writeFileSync(join(own.project, ".backscrollignore"), "");
  expect(await say()).toEqual(SILENT);
  rmSync(join(own.project, ".backscrollignore"));
  expect((await say()).stdout).toContain(CURE);
});

test("a file that came with a repository never speaks", async () => {
  const own = new World();
  mkdirSync(own.project);
  execFileSync("git", ["init", "-q"], { cwd: own.project });
  const file = join(own.project, "traces.jsonl");
  writeFileSync(file, transcript(own.project));
  await own.cli("ingest", file);
  const { stdout } = await own.cli("list", "--json");
  expect(JSON.parse(stdout).sessions[0].origin.provenance).toBe("foreign");
  expect(await own.hook("claude-code", failure(own.project))).toEqual(SILENT);
  const asked = ["unasked", "ask", "--command", FAILED, "--error", ERROR, "--json"];
  const ask = await own.cli(...asked);
  expect([ask.code, JSON.parse(ask.stdout).speaks]).toEqual([1, false]);
});

test("what was said is neither found nor asked later", async () => {
  const own = await World.create();
  const said = await own.hook("claude-code", failure(own.project));
  const text: string = JSON.parse(said.stdout).hookSpecificOutput.additionalContext;
  const escaped = text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const frames = [
    text,
    `<system-reminder>\n${text}\n</system-reminder>`,
    `<hook_context>${text}</hook_context>`,
    `<qwen:user-prompt-submit-context>${escaped}</qwen:user-prompt-submit-context>`,
    `<hook_result>${text}</hook_result>`,
    `<system_reminder>${text}</system_reminder>`,
  ];
  for (const [i, frame] of frames.entries()) {
    const line = JSON.parse(transcript(own.project).split("\n", 1)[0] ?? "");
    const id = `0b6a4c1e-2222-4222-8333-44445555000${i}`;
    Object.assign(line, { uuid: id, sessionId: id });
    line.message.content = `Zebra number ${i}. ${frame}`;
    writeFileSync(join(own.home, `.claude/projects/shop/${id}.jsonl`), `${JSON.stringify(line)}\n`);
  }
  await own.cli("ingest");
  const found = async (query: string) =>
    JSON.parse((await own.cli("search", query, "--limit", "20", "--json")).stdout).hits.length;
  expect(await found("zebra")).toBe(frames.length);
  expect(await found('"Worked then"')).toBe(0);
  expect(await found("golangci")).toBe(1);
});

const IMPATIENT = { BACKSCROLL_HOOK_DEADLINE_MS: "150" };

/** The program as an agent starts it. */
describe("whatever goes wrong is silence and success", () => {
  const start = (own: World, input: string, env: Record<string, string> = {}) =>
    runCli(["hook", "claude-code"], { cwd: own.project, env: { ...own.env, ...env }, input });

  test("through the process that serves all agents, too", async () => {
    const own = await World.create();
    const { stdout } = await start(own, JSON.stringify(failure(own.project)));
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain(CURE);
  });

  test("a locked store", async () => {
    const own = await World.create();
    const lock = new DatabaseSync(own.env.BACKSCROLL_DB);
    lock.exec("BEGIN EXCLUSIVE");
    const ran = await start(own, JSON.stringify(failure(own.project)), IMPATIENT);
    lock.close();
    expect(ran).toEqual(SILENT);
  });

  test("a process that does not answer, as on a disk that hangs", async () => {
    const own = await World.create();
    await start(own, JSON.stringify(failure(own.project)));
    const [hub] = await hubsOf(own.env.BACKSCROLL_DB);
    if (hub === undefined) throw new Error("no hub runs");
    process.kill(hub, "SIGSTOP");
    const ran = await start(own, JSON.stringify(failure(own.project)), IMPATIENT);
    process.kill(hub, "SIGKILL");
    expect(ran).toEqual(SILENT);
  });

  test("a program that is gone: no exit code that blocks an agent", async () => {
    const own = await World.create();
    const ran = await run("sh", ["-c", `${process.execPath} ${own.home}/gone.js hook codex`], {
      input: JSON.stringify(failure(own.project)),
    });
    expect(ran.stdout).toBe("");
    // 2 blocks a call in every agent.
    expect([1, 127]).toContain(ran.code);
  });

  test("a damaged store, a missing one, one that cannot be opened", async () => {
    const own = await World.create();
    const damaged = join(own.home, "damaged.db");
    writeFileSync(damaged, Buffer.concat([readFileSync(own.env.BACKSCROLL_DB).subarray(0, 100)]));
    for (const db of [
      damaged,
      join(own.home, "none.db"),
      "/dev/null/x.db",
      "https://127.0.0.1:1",
    ]) {
      const env = { ...IMPATIENT, BACKSCROLL_DB: db };
      expect(await start(own, JSON.stringify(failure(own.project)), env)).toEqual(SILENT);
    }
  });

  test("garbage, and an event of the future", async () => {
    const own = await World.create();
    for (const input of ["", "{", "[]", "\0\xff", "{}", '{"hook_event_name":"FutureEvent"}']) {
      const { code, stdout } = await start(own, input);
      expect([code, stdout]).toEqual([0, ""]);
    }
    const huge = failure(own.project, { error: "x".repeat(5_000_000) });
    expect(await start(own, JSON.stringify(huge))).toEqual(SILENT);
  });
});
