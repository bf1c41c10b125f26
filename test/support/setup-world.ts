/** A machine for `setup`: its home, and what its answers look like. */

import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callCli, type Ran, ROOT } from "./cli.ts";
import { createFolder } from "./folder.ts";

interface World {
  readonly home: string;
  readonly cli: (...args: string[]) => Promise<Ran>;
  readonly put: (path: string, text: string) => string;
  readonly text: (path: string) => string;
}

/** A home with no agent in it, nor on the PATH. */
export function world(): World {
  const home = realpathSync(createFolder());
  const cli = (...args: string[]): Promise<Ran> =>
    callCli(args, { cwd: home, env: { HOME: home, PATH: "/usr/bin:/bin" } });
  const put = (path: string, text: string): string => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const text = (path: string) => readFileSync(join(home, path), "utf8");
  return { home, cli, put, text };
}

export const COMMAND: readonly string[] = [
  process.execPath,
  join(ROOT, "bin/backscroll.js"),
  "mcp",
];

export const CONTINUE = ".continue/config.yaml";
export const VSCODE = ".config/Code/User/mcp.json";
export const JSONC =
  '{\n  // what I use\n  "servers": {\n    "a": { "command": "x" }, // first\n  },\n}\n';
export const TOML = 'model = "gpt-5" # mine\n\n[mcp_servers.other]\ncommand = "o"\n';

export interface Report {
  readonly agents: readonly {
    readonly agent: string;
    readonly what: string;
    readonly outcome: string;
    readonly diff: readonly string[];
    readonly copy: string | null;
    readonly file: string;
    readonly error: string | null;
    readonly paste: string | null;
    readonly check: { readonly ok: boolean; readonly tools: number; readonly error: string } | null;
  }[];
}

export const outcomes = ({ stdout }: Ran): string[][] =>
  (JSON.parse(stdout) as Report).agents.map(({ agent, what, outcome }) => [agent, what, outcome]);
