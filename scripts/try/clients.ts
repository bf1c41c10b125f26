/** How each client is installed, told of our server and of the mock model, and asked one thing. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TrySetting {
  /** Where the client is installed, and which holds its home. */
  readonly folder: string;
  /** Where it works. */
  readonly project: string;
  /** The command of our server. */
  readonly server: readonly string[];
  readonly modelUrl: string;
}

export interface Client {
  /** On npm. */
  readonly package: string;
  readonly configure: (setting: TrySetting) => void;
  readonly run: (
    setting: TrySetting,
    prompt: string,
  ) => { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

/** As installed: what was built, which starts in a third of the time. */
const SERVER_ENV = { BACKSCROLL_BUILT: "1" };

const homeOf = ({ folder }: TrySetting) => join(folder, "home");
const programOf = ({ folder }: TrySetting, name: string) => join(folder, "node_modules/.bin", name);

export const CLIENTS: Readonly<Record<string, Client>> = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    configure: (setting) => {
      mkdirSync(homeOf(setting), { recursive: true });
      const [command, ...args] = setting.server;
      const config = { mcpServers: { backscroll: { command, args, env: SERVER_ENV } } };
      writeFileSync(join(setting.folder, "mcp.json"), JSON.stringify(config));
    },
    run: (setting, prompt) => ({
      command: [
        ...[programOf(setting, "claude"), "-p", prompt],
        ...["--mcp-config", join(setting.folder, "mcp.json")],
        ...["--allowedTools", "mcp__backscroll__*"],
      ],
      env: {
        HOME: homeOf(setting),
        ANTHROPIC_BASE_URL: setting.modelUrl,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
  },
  codex: {
    package: "@openai/codex",
    configure: (setting) => {
      const folder = join(homeOf(setting), ".codex");
      mkdirSync(folder, { recursive: true });
      const [command, ...args] = setting.server;
      // A string of JSON is one of TOML, too.
      const lines = [
        'model = "gpt-5"',
        'model_provider = "mock"',
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = ${JSON.stringify(`${setting.modelUrl}/v1`)}`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
        "[mcp_servers.backscroll]",
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        // Otherwise a turn begins without the tools of a server that is slow to start.
        "required = true",
        "startup_timeout_sec = 60",
        "[mcp_servers.backscroll.env]",
        ...Object.entries(SERVER_ENV).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
      ];
      writeFileSync(join(folder, "config.toml"), `${lines.join("\n")}\n`);
    },
    run: (setting, prompt) => ({
      command: [
        ...[programOf(setting, "codex"), "exec", "--skip-git-repo-check"],
        ...["--dangerously-bypass-approvals-and-sandbox", prompt],
      ],
      env: { HOME: homeOf(setting), MOCK_KEY: "none" },
    }),
  },
};
