/**
 * How each client is installed, configured for the mock model, and asked one thing. `backscroll
 * setup` adds our server.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface TrySetting {
  /** Where the clients are installed. */
  readonly folder: string;
  /** The home folder of this run. */
  readonly home: string;
  readonly modelUrl: string;
}

export interface Client {
  /** On npm. */
  readonly package: string;
  /** The configuration file with the model, if any, relative to the home folder. */
  readonly settings?: (setting: TrySetting) => readonly [path: string, content: string];
  /** Asks one thing without a terminal. Our tools need no approval. */
  readonly ask: (prompt: string) => readonly string[];
  /** The same in an existing session. */
  readonly goOn?: (session: string, prompt: string) => readonly string[];
  readonly env: (setting: TrySetting) => Readonly<Record<string, string>>;
  /** Its own tools by which it runs a command and reads a file, with their fields. */
  readonly shell: (command: string) => OwnCall;
  readonly read?: (file: string) => OwnCall;
}

export interface OwnCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const openai = ({ modelUrl }: TrySetting) => `${modelUrl}/v1`;
const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

const CLAUDE = ["--allowedTools", "mcp__backscroll__*", "Bash", "Read"];
const CODEX = [
  "--skip-git-repo-check",
  "--dangerously-bypass-approvals-and-sandbox",
  "--dangerously-bypass-hook-trust",
];
const described = (command: string) => ({ command, description: "Try it" });

const GEMINI = ["gemini", "--skip-trust", "--yolo", "-m", "gemini-2.5-pro"];
const COPILOT = ["copilot", "--allow-all-tools", "--no-auto-update"];

export const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": {
    shell: (command) => ({ tool: "Bash", input: described(command) }),
    read: (file) => ({ tool: "Read", input: { file_path: file } }),
    package: "@anthropic-ai/claude-code",
    ask: (prompt) => ["claude", "-p", prompt, ...CLAUDE],
    goOn: (session, prompt) => ["claude", "--resume", session, "-p", prompt, ...CLAUDE],
    env: ({ modelUrl }) => ({
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
  },
  codex: {
    shell: (command) => ({ tool: "exec_command", input: { cmd: command } }),
    package: "@openai/codex",
    settings: (setting) => {
      const lines = [
        'model = "gpt-5"',
        'model_provider = "mock"',
        "",
        "[model_providers.mock]",
        'name = "mock"',
        // A JSON string is a valid TOML string.
        `base_url = ${JSON.stringify(openai(setting))}`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
      ];
      return [".codex/config.toml", `${lines.join("\n")}\n`];
    },
    ask: (prompt) => ["codex", "exec", ...CODEX, prompt],
    goOn: (session, prompt) => ["codex", "exec", ...CODEX, "resume", session, prompt],
    env: () => ({ MOCK_KEY: "none" }),
  },
  "gemini-cli": {
    shell: (command) => ({ tool: "run_shell_command", input: { command } }),
    read: (file) => ({ tool: "read_file", input: { file_path: file } }),
    package: "@google/gemini-cli",
    settings: () => [
      ".gemini/settings.json",
      toJson({ security: { auth: { selectedType: "gemini-api-key" } } }),
    ],
    ask: (prompt) => [...GEMINI, "-p", prompt],
    goOn: (session, prompt) => [...GEMINI, "--resume", session, "-p", prompt],
    env: ({ modelUrl }) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: modelUrl }),
  },
  opencode: {
    shell: (command) => ({ tool: "bash", input: described(command) }),
    read: (file) => ({ tool: "read", input: { filePath: file } }),
    package: "opencode-ai",
    settings: (setting) => {
      const mock = {
        npm: "@ai-sdk/openai-compatible",
        name: "mock",
        options: { baseURL: openai(setting), apiKey: "none" },
        models: { mock: { name: "mock" } },
      };
      const models = { model: "mock/mock", small_model: "mock/mock", provider: { mock } };
      const config = { ...models, autoupdate: false, share: "disabled" };
      return [".config/opencode/opencode.json", toJson(config)];
    },
    ask: (prompt) => ["opencode", "run", "--auto", prompt],
    env: () => ({}),
  },
  "qwen-code": {
    shell: (command) => ({ tool: "run_shell_command", input: { command, is_background: false } }),
    package: "@qwen-code/qwen-code",
    settings: () => [
      ".qwen/settings.json",
      toJson({ security: { auth: { selectedType: "openai" } } }),
    ],
    ask: (prompt) => ["qwen", "--yolo", prompt],
    goOn: (session, prompt) => ["qwen", "--yolo", "--resume", session, "-p", prompt],
    env: (setting) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: openai(setting),
      OPENAI_MODEL: "mock",
    }),
  },
  "copilot-cli": {
    shell: (command) => ({ tool: "bash", input: described(command) }),
    read: (path) => ({ tool: "view", input: { path } }),
    package: "@github/copilot",
    ask: (prompt) => [...COPILOT, "-p", prompt],
    goOn: (session, prompt) => [...COPILOT, `--resume=${session}`, "-p", prompt],
    env: (setting) => ({
      COPILOT_PROVIDER_BASE_URL: openai(setting),
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "mock",
    }),
  },
};

/** The whole name for `gemini` and the like; undefined if there is none. */
export function clientName(given: string): string | undefined {
  return Object.keys(CLIENTS).find((name) => name === given || name.startsWith(`${given}-`));
}

/** Configures the client's model. */
export function configure(client: Client, setting: TrySetting): void {
  if (client.settings === undefined) return;
  const [path, content] = client.settings(setting);
  const file = join(setting.home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
