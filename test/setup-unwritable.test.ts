/** `setup` with a file that it may not write. */

import { chmodSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./support/cli.ts";
import {
  COMMAND,
  JSONC,
  outcomes,
  type Report,
  TOML,
  VSCODE,
  world,
} from "./support/setup-world.ts";

test("is named with the reason and what to paste, and the other agents are set up", async () => {
  const { home, cli, put, text } = world();
  // A folder in the place of the file, or of its copy, fails for root, too.
  mkdirSync(join(home, ".cursor/mcp.json"), { recursive: true });
  put(".codex/config.toml", TOML);
  mkdirSync(join(home, ".codex/config.toml.before-backscroll"));
  mkdirSync(join(home, ".copilot"));
  symlinkSync("/proc/nowhere/mcp.json", join(home, ".copilot/mcp-config.json"));
  put(VSCODE, JSONC);
  const ran = await cli("setup", "--yes", "--no-check");
  expect([ran.code, ran.stderr]).toEqual([1, ""]);
  expect(ran.stdout).toContain("VS Code: added (~/.config/Code/User/mcp.json)\n");
  expect(ran.stdout).toContain(
    `Codex: could not write ~/.codex/config.toml: illegal operation on a directory\n  To paste there:\n    [mcp_servers.backscroll]\n    command = ${JSON.stringify(COMMAND[0])}\n`,
  );
  expect(ran.stdout).toContain(
    'Cursor: could not write ~/.cursor/mcp.json: illegal operation on a directory\n  To paste there:\n    {\n      "mcpServers": {\n        "backscroll": {\n',
  );
  expect(ran.stdout).toContain("GitHub Copilot CLI: could not write ~/.copilot/mcp-config.json: ");
  expect(text(".codex/config.toml")).toBe(TOML);

  const again = await cli("setup", "cursor", "vscode", "--yes", "--no-check", "--json");
  expect([again.code, outcomes(again)]).toEqual([
    1,
    [
      ["cursor", "server", "failed"],
      ["vscode", "server", "unchanged"],
    ],
  ]);
  const [cursor, vscode] = (JSON.parse(again.stdout) as Report).agents;
  expect(cursor).toMatchObject({ error: "illegal operation on a directory", copy: null });
  const [command, ...args] = COMMAND;
  expect(JSON.parse(cursor?.paste ?? "")).toEqual({
    mcpServers: { backscroll: { command, args } },
  });
  expect([vscode?.error, vscode?.paste]).toEqual([null, null]);
  expect((await cli("setup", "cursor", "--check")).stdout).toContain("Cursor: could not read ");
});

test("leaves no copy behind, and the file as it was", async () => {
  const { home, put, text } = world();
  const bound = (...args: string[]) =>
    runCli(args, { cwd: home, env: { HOME: home, PATH: "/usr/bin:/bin" }, isBound: true });
  // As a package manager's store of settings: the link's own folder may be written.
  const store = put("store/mcp.json", "{}\n");
  mkdirSync(join(home, ".cursor"));
  symlinkSync(store, join(home, ".cursor/mcp.json"));
  chmodSync(join(home, "store"), 0o555);
  put(".codex/config.toml", TOML);
  chmodSync(join(home, ".codex"), 0o555);
  chmodSync(put(".gemini/settings.json", "{}\n"), 0o444);
  put(VSCODE, JSONC);
  const names = ["codex", "cursor", "vscode", "gemini-cli"];
  const ran = await bound("setup", ...names, "--yes", "--no-check", "--json");
  expect([ran.code, outcomes(ran).map(([, , outcome]) => outcome)]).toEqual([
    1,
    ["failed", "failed", "added", "failed"],
  ]);
  const failed = (JSON.parse(ran.stdout) as Report).agents.filter(({ error }) => error !== null);
  expect(failed.map(({ error }) => error)).toEqual(Array(3).fill("permission denied"));
  expect([
    text(".cursor/mcp.json"),
    text(".codex/config.toml"),
    text(".gemini/settings.json"),
  ]).toEqual(["{}\n", TOML, "{}\n"]);
  const left = readdirSync(home, { recursive: true, withFileTypes: true });
  const files = left.filter((file) => !file.isDirectory()).map(({ name }) => name);
  expect(files.toSorted()).toEqual([
    "config.toml",
    "mcp.json",
    "mcp.json",
    "mcp.json",
    "mcp.json.before-backscroll",
    "settings.json",
  ]);
  chmodSync(join(home, ".codex"), 0o755);
  await bound("setup", "codex", "--yes", "--no-check");
  chmodSync(join(home, ".codex"), 0o555);
  const removed = await bound("setup", "codex", "vscode", "--remove", "--yes");
  expect(removed.code).toBe(1);
  expect(removed.stdout).toContain(
    "Codex: could not write ~/.codex/config.toml: permission denied",
  );
  expect(removed.stdout).toContain("    - [mcp_servers.backscroll]\n");
  expect(text(".codex/config.toml.before-backscroll")).toBe(TOML);
  expect(text(VSCODE)).toBe(JSONC);
  chmodSync(join(home, "store"), 0o755);
  chmodSync(join(home, ".codex"), 0o755);
});

test("Continue's own defaults are not replaced by a new file", async () => {
  const { home, cli } = world();
  const ran = await cli("setup", "continue", "--yes", "--no-check");
  expect([ran.code, ran.stdout]).toEqual([1, expect.stringContaining("Continue's own defaults")]);
  expect(ran.stdout).toContain("    mcpServers:\n      - name: backscroll\n");
  expect(readdirSync(home)).toEqual([]);
});
