/** Clients from npm and this checkout's build, installed in a temporary home folder. */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { Client as McpClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Client, configure, type TrySetting } from "./clients.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The final read ends ten seconds after the last line. */
const REMOVE = { recursive: true, force: true, maxRetries: 60, retryDelay: 500 };

export class Installation {
  readonly setting: TrySetting;
  /** The agents' working folder. */
  readonly project: string;
  readonly #isKept: boolean;

  private constructor(setting: TrySetting, project: string, isKept: boolean) {
    this.setting = setting;
    this.project = project;
    this.#isKept = isKept;
  }

  /** `packages` are npm names, optionally with a version. */
  static create(packages: readonly string[], modelUrl: string, isKept: boolean): Installation {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-try-"));
    const [home, project] = [join(folder, "home"), join(folder, "project")];
    for (const each of [home, project]) mkdirSync(each);
    const installation = new Installation({ folder, home, modelUrl }, project, isKept);
    console.log(`Installing ${packages.join(", ")} and this checkout in ${folder} …`);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    const packed = npm(ROOT, [
      "pack",
      "--ignore-scripts",
      "--silent",
      "--pack-destination",
      folder,
    ]);
    npm(folder, ["install", "--no-fund", "--no-audit", join(folder, packed.trim()), ...packages]);
    return installation;
  }

  /** Configures `client` with the model and our server, and checks both. */
  async setUp(name: string, client: Client): Promise<void> {
    configure(client, this.setting);
    await this.backscroll(["setup", name, "--yes", "--no-check", "--hooks"]);
    console.log((await this.backscroll(["setup", "--check", name])).trimEnd());
  }

  backscroll(args: readonly string[]): Promise<string> {
    return this.run(["backscroll", ...args], {});
  }

  /** The first tool with `search` in its name that the server lists, and its first required field. */
  async searchTool(): Promise<{ readonly name: string; readonly field: string }> {
    const client = new McpClient({ name: "try", version: "1.0.0" });
    const command = join(this.setting.folder, "node_modules/.bin/backscroll");
    const args = ["mcp", "--final-read", "0"];
    await client.connect(new StdioClientTransport({ command, args, env: this.#environment({}) }));
    const { tools } = await client.listTools();
    await client.close();
    const tool = tools.find(({ name }) => name.includes("search"));
    const field = tool?.inputSchema.required?.[0];
    if (tool === undefined || field === undefined) throw new Error("the server lists no search");
    return { name: tool.name, field };
  }

  /** Without the caller's environment: inside an agent, it would pass on that agent's session. */
  #environment(env: Readonly<Record<string, string>>): Record<string, string> {
    const { folder, home } = this.setting;
    const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), ownPath()];
    return { PATH: path.join(delimiter), HOME: home, USERPROFILE: home, ...env };
  }

  /** Gives standard output; on failure prints all output and throws. */
  async run(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const [file = "", ...args] = command;
    const own = this.#environment(env);
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const child = spawn(file, args, { cwd: this.project, env: own, stdio });
    let [output, all] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      all += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
    const code = await new Promise((done, reject) => {
      child.once("error", reject);
      child.once("close", done);
    });
    if (code === 0) return output;
    console.error(all);
    throw new Error(`${file} ended with ${code}`);
  }

  remove(): void {
    if (this.#isKept) console.log(`\nkept: ${this.setting.folder}`);
    else rmSync(this.setting.folder, REMOVE);
  }
}

function npm(cwd: string, args: readonly string[]): string {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
}

/** Without npm's script folders, which may hold another `backscroll` or client. */
function ownPath(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !/[\\/]node_modules[\\/]/.test(folder)).join(delimiter);
}
