/**
 * Agents as `setup` sees them: how to detect one, and where it lists its MCP servers. docs/mcp.md
 * says which entries were checked with the clients themselves.
 */

import { applicationFolder, folderOf, joinPath } from "../../ingest/machine-paths.ts";
import type { Environment } from "../../ingest/source.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";

/** How a client starts an MCP server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Agent {
  /** Its name on the command line, and that of its transcripts' source if there is a reader. */
  readonly name: string;
  readonly title: string;
  /** Programs on the PATH, any of which shows that it is installed. */
  readonly executables: readonly string[];
  /** Folders, any of which shows that it was used here. */
  readonly folders: (environment: Environment) => readonly string[];
  /** Its file: the first of these that exists, else the first. */
  readonly files: (environment: Environment) => readonly string[];
  readonly format: "json" | "toml" | "yaml";
  /** The path of its servers in the file, by name; in YAML a list of entries with names. */
  readonly path: readonly string[];
  readonly toEntry: (server: ServerCommand) => JsonObject;
  /** Undefined if it starts no process, or has an unknown form. */
  readonly fromEntry: (entry: Readonly<Record<string, unknown>>) => ServerCommand | undefined;
  /** The client locks the file as npm's proper-lockfile does while it rewrites it. */
  readonly locks?: true;
  /** The file with its hooks, where setup adds any. */
  readonly hooks?: (environment: Environment) => string;
  /** Why setup adds to its file, and makes none. */
  readonly whyNotNew?: string;
}

/** The name of our entry in every file. */
export const ENTRY_NAME = "backscroll";

export const AGENTS: readonly Agent[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    executables: ["claude"],
    folders: (machine) => [claudeFolder(machine)],
    files: (machine) => [
      folderOf(machine, "CLAUDE_CONFIG_DIR", "") === ""
        ? inHome(machine, ".claude.json")
        : joinPath(claudeFolder(machine), ".claude.json"),
    ],
    ...json("mcpServers", (server) => ({ type: "stdio", ...plainEntry(server) })),
    locks: true,
    hooks: (machine) => joinPath(claudeFolder(machine), "settings.json"),
  },
  {
    name: "codex",
    title: "Codex",
    executables: ["codex"],
    folders: (machine) => [codexFolder(machine)],
    files: (machine) => [joinPath(codexFolder(machine), "config.toml")],
    format: "toml",
    path: ["mcp_servers"],
    toEntry: plainEntry,
    fromEntry: plainServer,
    hooks: (machine) => joinPath(codexFolder(machine), "hooks.json"),
  },
  {
    name: "cursor",
    title: "Cursor",
    executables: ["cursor", "cursor-agent"],
    folders: (machine) => [inHome(machine, ".cursor")],
    files: (machine) => [inHome(machine, ".cursor/mcp.json")],
    ...json("mcpServers", plainEntry),
  },
  {
    name: "vscode",
    title: "VS Code",
    executables: ["code"],
    folders: (machine) => [joinPath(applicationFolder(machine), "Code/User")],
    files: (machine) => [joinPath(applicationFolder(machine), "Code/User/mcp.json")],
    ...json("servers", (server) => ({ type: "stdio", ...plainEntry(server) })),
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    executables: ["gemini"],
    folders: (machine) => [inHome(machine, ".gemini")],
    files: (machine) => [inHome(machine, ".gemini/settings.json")],
    ...json("mcpServers", plainEntry),
    hooks: (machine) => inHome(machine, ".gemini/settings.json"),
  },
  {
    name: "opencode",
    title: "opencode",
    executables: ["opencode"],
    folders: (machine) => [joinPath(configFolder(machine), "opencode")],
    files: (machine) =>
      ["opencode.json", "opencode.jsonc"].map((name) =>
        joinPath(configFolder(machine), "opencode", name),
      ),
    ...json("mcp", opencodeEntry),
    fromEntry: opencodeServer,
    hooks: (machine) => joinPath(configFolder(machine), "opencode/plugin/backscroll.js"),
  },
  {
    name: "qwen-code",
    title: "Qwen Code",
    executables: ["qwen"],
    folders: (machine) => [inHome(machine, ".qwen")],
    files: (machine) => [inHome(machine, ".qwen/settings.json")],
    ...json("mcpServers", plainEntry),
    hooks: (machine) => inHome(machine, ".qwen/settings.json"),
  },
  {
    name: "copilot-cli",
    title: "GitHub Copilot CLI",
    executables: ["copilot"],
    folders: (machine) => [copilotFolder(machine)],
    files: (machine) => [joinPath(copilotFolder(machine), "mcp-config.json")],
    ...json("mcpServers", (server) => ({ type: "local", ...plainEntry(server), tools: ["*"] })),
    hooks: (machine) => joinPath(copilotFolder(machine), "hooks/backscroll.json"),
  },
  {
    name: "windsurf",
    title: "Windsurf",
    executables: ["windsurf"],
    folders: (machine) => [inHome(machine, ".codeium/windsurf")],
    files: (machine) => [inHome(machine, ".codeium/windsurf/mcp_config.json")],
    ...json("mcpServers", plainEntry),
  },
  {
    name: "zed",
    title: "Zed",
    executables: ["zed", "zeditor"],
    folders: (machine) => [zedFolder(machine)],
    files: (machine) => [joinPath(zedFolder(machine), "settings.json")],
    ...json("context_servers", (server) => ({ source: "custom", ...plainEntry(server) })),
  },
  {
    name: "crush",
    title: "Crush",
    executables: ["crush"],
    folders: (machine) => [joinPath(configFolder(machine), "crush")],
    files: (machine) => [joinPath(configFolder(machine), "crush/crush.json")],
    ...json("mcp", (server) => ({ type: "stdio", ...plainEntry(server) })),
  },
  {
    name: "kimi-code",
    title: "Kimi Code",
    // Kimi CLI has the same program.
    executables: [],
    folders: (machine) => [kimiFolder(machine)],
    files: (machine) => [joinPath(kimiFolder(machine), "mcp.json")],
    ...json("mcpServers", plainEntry),
    hooks: (machine) => joinPath(kimiFolder(machine), "config.toml"),
  },
  {
    name: "droid",
    title: "Droid",
    executables: ["droid"],
    folders: (machine) => [droidFolder(machine)],
    files: (machine) => [joinPath(droidFolder(machine), "mcp.json")],
    ...json("mcpServers", (server) => ({ type: "stdio", ...plainEntry(server) })),
    hooks: (machine) => joinPath(droidFolder(machine), "settings.json"),
  },
  {
    name: "continue",
    title: "Continue",
    // Only its file shows that it is used: see `whyNotNew`.
    executables: [],
    folders: () => [],
    files: (machine) => [joinPath(continueFolder(machine), "config.yaml")],
    format: "yaml",
    path: ["mcpServers"],
    toEntry: plainEntry,
    fromEntry: plainServer,
    whyNotNew: "it is not there, and a new one would take the place of Continue's own defaults",
  },
  {
    name: "cline",
    title: "Cline",
    executables: ["cline"],
    folders: (machine) => [clineFolder(machine)],
    files: (machine) => [
      folderOf(
        machine,
        "CLINE_MCP_SETTINGS_PATH",
        joinPath(
          folderOf(machine, "CLINE_DATA_DIR", joinPath(clineFolder(machine), "data")),
          "settings/cline_mcp_settings.json",
        ),
      ),
    ],
    // In seconds, also for the start. The client's own limit of 3 is too short on a busy machine.
    ...json("mcpServers", (server) => ({ type: "stdio", ...plainEntry(server), timeout: 60 })),
    // `cline mcp add` writes the same fields one level deeper; the client reads both.
    fromEntry: ({ transport, ...entry }) =>
      plainServer(isPlainObject(transport) ? transport : entry),
    locks: true,
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    executables: [],
    folders: (machine) => [joinPath(applicationFolder(machine), "Claude")],
    files: (machine) => [joinPath(applicationFolder(machine), "Claude/claude_desktop_config.json")],
    ...json("mcpServers", plainEntry),
  },
];

function claudeFolder(machine: Environment): string {
  return folderOf(machine, "CLAUDE_CONFIG_DIR", inHome(machine, ".claude"));
}

function codexFolder(machine: Environment): string {
  return folderOf(machine, "CODEX_HOME", inHome(machine, ".codex"));
}

function copilotFolder(machine: Environment): string {
  return folderOf(machine, "COPILOT_HOME", inHome(machine, ".copilot"));
}

function kimiFolder(machine: Environment): string {
  return folderOf(machine, "KIMI_CODE_HOME", inHome(machine, ".kimi-code"));
}

function droidFolder(machine: Environment): string {
  return joinPath(folderOf(machine, "FACTORY_HOME_OVERRIDE", machine.home), ".factory");
}

function continueFolder(machine: Environment): string {
  return folderOf(machine, "CONTINUE_GLOBAL_DIR", inHome(machine, ".continue"));
}

function clineFolder(machine: Environment): string {
  return folderOf(machine, "CLINE_DIR", inHome(machine, ".cline"));
}

function zedFolder(machine: Environment): string {
  if (machine.platform === "win32") return joinPath(applicationFolder(machine), "Zed");
  return joinPath(configFolder(machine), "zed");
}

/** Terminal programs use this on macOS too. */
function configFolder(machine: Environment): string {
  return folderOf(machine, "XDG_CONFIG_HOME", inHome(machine, ".config"));
}

function inHome({ home }: Environment, path: string): string {
  return joinPath(home, path);
}

function json(key: string, toEntry: Agent["toEntry"]) {
  return { format: "json", path: [key], toEntry, fromEntry: plainServer } as const;
}

/** `env` only if it is not empty. */
function plainEntry({ command, args, env }: ServerCommand): JsonObject {
  return {
    command,
    args: [...args],
    ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
  };
}

function plainServer(entry: Readonly<Record<string, unknown>>): ServerCommand | undefined {
  const { command, args = [], env = {} } = entry;
  if (typeof command !== "string" || !isTexts(args)) return undefined;
  return { command, args, env: textsOf(env) };
}

function opencodeEntry({ command, args, env }: ServerCommand): JsonObject {
  const environment = Object.keys(env).length === 0 ? {} : { environment: { ...env } };
  return { type: "local", command: [command, ...args], enabled: true, ...environment };
}

function opencodeServer(entry: Readonly<Record<string, unknown>>): ServerCommand | undefined {
  const { command: words, environment = {} } = entry;
  if (!isTexts(words)) return undefined;
  const [command, ...args] = words;
  return command === undefined ? undefined : { command, args, env: textsOf(environment) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function textsOf(value: unknown): Record<string, string> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}
