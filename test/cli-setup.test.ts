import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, test } from "vitest";
import { runSetup, type SetupOptions } from "../src/cli/commands/serve/setup.ts";
import { createContext } from "../src/cli/context.ts";
import { programWords } from "../src/cli/setup/own-command.ts";
import { Terminal } from "../src/cli/terminal.ts";
import { environmentOf, ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import {
  COMMAND,
  CONTINUE,
  JSONC,
  outcomes,
  type Report,
  TOML,
  VSCODE,
  world,
} from "./support/setup-world.ts";

test("agents are found by their folders, configured, and checked as they would start it", async () => {
  const { home, cli, put, text } = world();
  put(VSCODE, JSONC);
  const config = put(".codex/config.toml", TOML);
  chmodSync(config, 0o640);
  const ran = await cli("setup", "--yes", "--json");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(outcomes(ran)).toEqual([
    ["codex", "server", "added"],
    ["vscode", "server", "added"],
  ]);
  for (const { check, copy } of (JSON.parse(ran.stdout) as Report).agents) {
    expect(check).toMatchObject({ ok: true, error: null });
    expect(check?.tools).toBeGreaterThan(5);
    expect(copy).toMatch(/\.before-backscroll$/);
  }
  expect(text(".codex/config.toml.before-backscroll")).toBe(TOML);
  expect(text(".codex/config.toml")).toBe(
    `${TOML}\n[mcp_servers.backscroll]\ncommand = ${JSON.stringify(COMMAND[0])}\nargs = [${JSON.stringify(COMMAND[1])}, "mcp"]\n`,
  );
  expect(statSync(config).mode & 0o777).toBe(0o640);
  const written = text(VSCODE);
  expect(written).toContain("// what I use");
  expect(written).toContain('"a": { "command": "x" }, // first\n    "backscroll": {');

  // The official client can start the written entry.
  const client = new Client({ name: "test", version: "1.0.0" });
  const [command = "", ...args] = [...COMMAND, "--final-read", "0"];
  const env = environmentOf({ HOME: home });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  await client.close();

  const second = await cli("setup", "--yes", "--no-check", "--json");
  expect(outcomes(second).map(([, , outcome]) => outcome)).toEqual(["unchanged", "unchanged"]);
  expect(text(VSCODE)).toBe(written);

  const removed = await cli("setup", "--remove", "--yes", "--json");
  expect(outcomes(removed).map(([, , outcome]) => outcome)).toEqual(["removed", "removed"]);
  expect([text(VSCODE), text(".codex/config.toml")]).toEqual([JSONC, TOML]);
  expect(readdirSync(dirname(config))).toEqual(["config.toml"]);
});

test("every agent's file can be created, and is deleted again when empty", async () => {
  const { home, cli, put, text } = world();
  const all = await cli("setup", "nobody");
  const names = /known are (.*) \(/.exec(all.stderr)?.[1]?.split(", ") ?? [];
  expect(names).toEqual([
    "claude-code",
    "codex",
    "cursor",
    "vscode",
    "gemini-cli",
    "opencode",
    "qwen-code",
    "copilot-cli",
    "windsurf",
    "zed",
    "crush",
    "kimi-code",
    "droid",
    "continue",
    "cline",
    "claude-desktop",
  ]);
  const yaml = "name: Main\nmodels: [] # mine\n";
  put(CONTINUE, yaml);
  const added = await cli("setup", ...names, "--yes", "--no-check", "--hooks", "--json");
  expect([added.code, added.stderr]).toEqual([0, ""]);
  const [command, ...args] = COMMAND;
  const plain = { command, args };
  const parsed = (path: string) => JSON.parse(text(path));
  expect(parsed(".claude.json").mcpServers.backscroll).toEqual({ type: "stdio", ...plain });
  expect(parsed(".cursor/mcp.json").mcpServers.backscroll).toEqual(plain);
  expect(parsed(VSCODE).servers.backscroll).toEqual({ type: "stdio", ...plain });
  expect(parsed(".gemini/settings.json").mcpServers.backscroll).toEqual(plain);
  expect(parsed(".config/opencode/opencode.json").mcp.backscroll).toEqual({
    type: "local",
    command: COMMAND,
    enabled: true,
  });
  expect(parsed(".copilot/mcp-config.json").mcpServers.backscroll.tools).toEqual(["*"]);
  expect(parsed(".kimi-code/mcp.json").mcpServers.backscroll).toEqual(plain);
  expect(parsed(".factory/mcp.json").mcpServers.backscroll).toEqual({ type: "stdio", ...plain });
  const cline = ".cline/data/settings/cline_mcp_settings.json";
  expect(parsed(cline).mcpServers.backscroll).toEqual({ type: "stdio", ...plain, timeout: 60 });
  expect(text(CONTINUE)).toBe(
    `${yaml}mcpServers:\n  - name: backscroll\n    command: ${JSON.stringify(command)}\n    args: ${JSON.stringify(args)}\n`,
  );
  const events = (path: string) => Object.keys(parsed(path).hooks);
  const { hooks } = parsed(".claude/settings.json");
  expect(Object.keys(hooks)).toEqual([
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "SessionEnd",
  ]);
  expect(hooks.SessionStart[0].matcher).toBe("startup|clear|compact");
  expect(hooks.SessionEnd[0].hooks[0].command).toMatch(/ hook claude-code$/);
  expect(hooks.PostToolUseFailure[0].hooks[0]).toMatchObject({
    type: "mcp_tool",
    server: "backscroll",
    tool: "recall_for_hook",
    input: { agent: "claude-code", error: `$${"{error}"}`, event: `$${"{hook_event_name}"}` },
  });
  expect(events(".codex/hooks.json")).toEqual(["SessionStart", "UserPromptSubmit", "PostToolUse"]);
  expect(events(".gemini/settings.json")).toEqual(["SessionStart", "BeforeAgent", "AfterTool"]);
  const qwen = ["SessionStart", "UserPromptSubmit", "PostToolUseFailure"];
  expect(events(".qwen/settings.json")).toEqual(qwen);
  const copilot = ["sessionStart", "userPromptSubmitted", "postToolUse"];
  expect(events(".copilot/hooks/backscroll.json")).toEqual(copilot);
  expect(events(".factory/settings.json")).toEqual(["SessionStart"]);
  expect(text(".kimi-code/config.toml")).toMatch(/^\[\[hooks\]\]\nevent = "UserPromptSubmit"\ncom/);
  expect(text(".config/opencode/plugin/backscroll.js")).toContain('"hook","opencode"');
  expect(
    outcomes(await cli("setup", ...names, "--yes", "--no-check", "--hooks", "--json")),
  ).toEqual(outcomes(added).map(([agent, what]) => [agent, what, "unchanged"]));

  const removed = await cli("setup", ...names, "--remove", "--yes", "--json");
  expect(new Set(outcomes(removed).map(([, , outcome]) => outcome))).toEqual(new Set(["removed"]));
  const files = readdirSync(home, { recursive: true, withFileTypes: true });
  expect(files.filter((file) => file.isFile()).map(({ name }) => name)).toEqual(["config.yaml"]);
  expect(text(CONTINUE)).toBe(yaml);
});

test("a dry run writes nothing and shows its changes", async () => {
  const { home, cli, put, text } = world();
  put(VSCODE, JSONC);
  const ran = await cli("setup", "--dry-run");
  expect(ran.code).toBe(0);
  expect(ran.stdout).toContain("VS Code: would be added (~/.config/Code/User/mcp.json)");
  expect(ran.stdout).toMatch(/^ {4}\+ {5}"backscroll": \{$/m);
  expect(ran.stdout).toContain("Nothing was written.");
  expect(text(VSCODE)).toBe(JSONC);
  expect(readdirSync(home)).toEqual([".config"]);
});

test("a file that does not parse is named with its line, and nothing is written", async () => {
  const { home, cli, put } = world();
  mkdirSync(join(home, ".cursor"));
  const file = put(VSCODE, '{\n  "servers": {\n    "a": 1\n    "b": 2\n  }\n}\n');
  const ran = await cli("setup", "--yes", "--no-check");
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(`${file}:4: comma expected`);
  expect(ran.stderr).toContain("nothing was written");
  expect(readdirSync(join(home, ".cursor"))).toEqual([]);
  const toml = put(".codex/config.toml", "a = 1\n[b\n");
  expect((await cli("setup", "codex", "--yes")).stderr).toContain(
    `${toml}:2: illegal character in key`,
  );
});

test("without a terminal it needs --yes", async () => {
  const { home, cli } = world();
  mkdirSync(join(home, ".cursor"));
  const ran = await cli("setup");
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("add --yes to write, or --dry-run");
  expect(readdirSync(join(home, ".cursor"))).toEqual([]);
});

test("a machine without agents is reported", async () => {
  const ran = await world().cli("setup", "--yes");
  expect([ran.code, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toContain(
    "No agent was found on this machine. Name one to set it up: claude-code",
  );
});

test("a changed entry stays, unless replaced on request", async () => {
  const { cli, put, text } = world();
  const mine =
    '{"mcpServers": {"backscroll": {"command": "mine", "args": ["mcp"], "disabled": true}}}';
  put(".cursor/mcp.json", mine);
  const kept = await cli("setup", "--yes", "--no-check");
  expect(kept.code).toBe(0);
  expect(kept.stdout).toContain("Cursor: differs, and stays as it is");
  expect(kept.stdout).toContain("setup cursor --replace");
  expect(text(".cursor/mcp.json")).toBe(mine);
  const replaced = await cli("setup", "--yes", "--no-check", "--replace", "--json");
  expect(outcomes(replaced)).toEqual([["cursor", "server", "replaced"]]);
  const { backscroll } = JSON.parse(text(".cursor/mcp.json")).mcpServers;
  expect(backscroll).toEqual({ command: COMMAND[0], args: COMMAND.slice(1), disabled: true });
});

test("an entry of a remote server is replaced as a whole", async () => {
  const { cli, put, text } = world();
  put(".cursor/mcp.json", '{"mcpServers": {"backscroll": {"url": "https://m.example.com/mcp"}}}\n');
  put(".codex/config.toml", '[mcp_servers.backscroll]\nurl = "https://m.example.com/mcp"\n');
  await cli("setup", "cursor", "codex", "--yes", "--no-check", "--replace");
  const { backscroll } = JSON.parse(text(".cursor/mcp.json")).mcpServers;
  expect([backscroll.command, ...backscroll.args]).toEqual(COMMAND);
  expect(text(".cursor/mcp.json") + text(".codex/config.toml")).not.toContain("url");
});

test("all entries of our name are removed", async () => {
  const { cli, put, text } = world();
  const twice = '"backscroll": {"command": "a"}, "backscroll": {"command": "b"}';
  put(".cursor/mcp.json", `{"mcpServers": {${twice}, "c": {"command": "d"}}}\n`);
  await cli("setup", "cursor", "--remove", "--yes");
  expect(text(".cursor/mcp.json")).toBe('{"mcpServers": {"c": {"command": "d"}}}\n');
});

test("an entry written by hand is kept in a copy when it is removed", async () => {
  const { home, cli, put, text } = world();
  const own =
    '{"mcpServers": {"backscroll": {"command": "/opt/own/backscroll", "args": ["mcp"]}}}\n';
  put(".cursor/mcp.json", own);
  const removed = await cli("setup", "cursor", "--remove", "--yes");
  expect(text(".cursor/mcp.json")).not.toContain("backscroll");
  expect(text(".cursor/mcp.json.before-removal")).toBe(own);
  expect(removed.stdout).toContain("The file before: ~/.cursor/mcp.json.before-removal");
  put(".cursor/mcp.json", "{}\n");
  await cli("setup", "cursor", "--yes", "--no-check");
  rmSync(join(home, ".cursor/mcp.json.before-removal"));
  await cli("setup", "cursor", "--remove", "--yes");
  expect(readdirSync(join(home, ".cursor"))).toEqual(["mcp.json"]);
});

test("other hooks of Kimi Code and their comments stay", async () => {
  const { cli, put, text } = world();
  const settings =
    '# mine\n[[hooks]]\nevent = "Stop"\ncommand = "bell" # ring\n\n[models]\na = 1\n';
  put(".kimi-code/config.toml", settings);
  await cli("setup", "kimi-code", "--yes", "--no-check", "--hooks");
  expect(text(".kimi-code/config.toml")).toContain(`${settings}\n[[hooks]]\nevent = "UserPrompt`);
  put(".kimi-code/config.toml", `${text(".kimi-code/config.toml")}\n[other]\nb = 2\n`);
  await cli("setup", "kimi-code", "--remove", "--yes");
  expect(text(".kimi-code/config.toml")).toBe(`${settings}\n[other]\nb = 2\n`);
});

test("hooks of other tools are left alone", async () => {
  const { cli, put, text } = world();
  const settings =
    '{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "other hook claude-code"}]}]}}\n';
  put(".claude/settings.json", settings);
  await cli("setup", "claude-code", "--yes", "--no-check", "--hooks");
  const { SessionEnd, PreCompact } = JSON.parse(text(".claude/settings.json")).hooks;
  expect([SessionEnd.length, PreCompact.length]).toEqual([2, 1]);
  await cli("setup", "claude-code", "--remove", "--yes");
  expect(text(".claude/settings.json")).toBe(settings);
});

test("a link stays a link, and its target is written", async () => {
  const { home, cli, put } = world();
  const real = put("dotfiles/mcp.json", "{}\n");
  mkdirSync(join(home, ".cursor"));
  const link = join(home, ".cursor/mcp.json");
  symlinkSync("../dotfiles/mcp.json", link);
  await cli("setup", "--yes", "--no-check");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toContain('"backscroll"');
  expect(readdirSync(join(home, "dotfiles"))).toEqual(["mcp.json"]);
  expect(existsSync(`${link}.before-backscroll`)).toBe(true);
  await cli("setup", "--remove", "--yes");
  expect([lstatSync(link).isSymbolicLink(), readFileSync(real, "utf8")]).toEqual([true, "{}\n"]);
});

test("later changes by others stay when ours is removed", async () => {
  const { cli, put, text } = world();
  put(".claude.json", '{\n  "numStartups": 1\n}\n');
  put(
    ".claude/settings.json",
    '{\n  "hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "bell"}]}]}\n}\n',
  );
  await cli("setup", "--yes", "--no-check", "--hooks");
  const changed = text(".claude.json").replace('"numStartups": 1', '"numStartups": 2');
  put(".claude.json", changed);
  put(".claude/settings.json", text(".claude/settings.json").replace("bell", "gong"));
  await cli("setup", "--remove", "--yes");
  expect(JSON.parse(text(".claude.json"))).toEqual({ numStartups: 2, mcpServers: {} });
  expect(JSON.parse(text(".claude/settings.json"))).toEqual({
    hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "gong" }] }] },
  });
});

test("the store and the tenant are passed on, and secrets are not shown", async () => {
  const { home, cli, text } = world();
  await cli("setup", "cursor", "--yes", "--no-check", "--db", "here.db", "--tenant", "acme");
  const { args } = JSON.parse(text(".cursor/mcp.json")).mcpServers.backscroll;
  expect(args.slice(1)).toEqual(["mcp", "--db", join(home, "here.db"), "--tenant", "acme"]);
  const shown = await cli("setup", "codex", "--dry-run", "--json", "--db", "postgres://a:pw9@h/d");
  expect(shown.stdout).not.toContain("pw9");
  const server = ["--db", "https://m.example.com", "--token", "bsk_x"];
  await cli("setup", "gemini-cli", "--yes", "--no-check", ...server);
  const entry = JSON.parse(text(".gemini/settings.json")).mcpServers.backscroll;
  expect([entry.args.includes("bsk_x"), entry.env]).toEqual([false, { BACKSCROLL_TOKEN: "bsk_x" }]);
  expect((await cli("setup", "cursor", "--yes", "--db", ":memory:")).code).toBe(2);
});

test("a check reports a server that does not start", async () => {
  const { cli, put } = world();
  expect((await cli("setup", "cursor", "--check")).code).toBe(1);
  put(".cursor/mcp.json", '{"mcpServers": {"backscroll": {"command": "/nowhere/backscroll"}}}');
  put(
    ".codex/config.toml",
    '[mcp_servers.backscroll]\ncommand = "sh"\nargs = ["-c", "echo no >&2; exit 3"]\n',
  );
  const ran = await cli("setup", "--check", "--json");
  expect(ran.code).toBe(1);
  const checks = (JSON.parse(ran.stdout) as Report).agents.map(({ check }) => check?.error);
  expect(checks).toEqual(["it ended with 3: no", expect.stringContaining("it cannot be started")]);
});

describe("at a terminal", () => {
  const OPTIONS: SetupOptions = {
    dryRun: false,
    yes: false,
    replace: false,
    remove: false,
    check: false,
    tries: false,
    hooks: undefined,
  };

  async function answering(home: string, answer: (question: string) => boolean): Promise<string[]> {
    const asked: string[] = [];
    const terminal = new (class extends Terminal {
      override write = () => Promise.resolve();
      override note = () => undefined;
    })();
    const machine = { home, variables: {}, platform: "linux" };
    const ask = async (question: string) => {
      asked.push(question);
      return answer(question);
    };
    const context = createContext({}, terminal);
    const askText = async (question: string) => {
      asked.push(question);
      return "";
    };
    await runSetup(context, ["claude-code"], OPTIONS, machine, { isThere: true, ask, askText });
    return asked;
  }

  test("the server and the hooks are confirmed separately", async () => {
    const home = createFolder();
    const asked = await answering(home, (question) => question.includes("Add this for"));
    const questions = ["Add this for Claude Code?", expect.stringContaining("unasked")];
    expect(asked).toEqual([...questions, expect.stringContaining("for ever")]);
    expect([
      existsSync(join(home, ".claude.json")),
      existsSync(join(home, ".claude/settings.json")),
    ]).toEqual([true, false]);
    expect(await answering(home, () => true)).toEqual([expect.stringContaining("unasked")]);
    expect(await answering(home, () => true)).toEqual([]);
  });

  test("a declined change is not written", async () => {
    const home = createFolder();
    await answering(home, () => false);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("the command that starts this program", () => {
  const machine = (PATH: string) => ({ home: "/h", variables: { PATH }, platform: "linux" });
  const link = (folder: string, name: string, target: string) => {
    mkdirSync(folder, { recursive: true });
    symlinkSync(target, join(folder, name));
    return join(folder, name);
  };
  const script = join(ROOT, "bin/backscroll.js");
  const node = process.execPath;

  test("is the name of a global install, npx for npx, the path of a clone", () => {
    const bin = join(createFolder(), "bin");
    link(bin, "node", node);
    expect(programWords(machine(bin), { script, node })).toEqual([node, script]);
    const global = link(bin, "backscroll", script);
    expect(programWords(machine(bin), { script: global, node })).toEqual(["backscroll"]);
    const npx = link(join(bin, "_npx/1/node_modules/.bin"), "backscroll", script);
    expect(programWords(machine(bin), { script: npx, node })).toEqual(["npx", "-y", "backscroll"]);
  });

  test("names the running Node if the one on the PATH is too old", () => {
    const bin = createFolder();
    writeFileSync(join(bin, "node"), "#!/bin/sh\necho v20.20.2\n", { mode: 0o755 });
    const global = link(bin, "backscroll", script);
    expect(programWords(machine(bin), { script: global, node })).toEqual([node, script]);
  });
});
