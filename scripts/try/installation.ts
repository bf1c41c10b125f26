/** Clients and this checkout, installed from npm and from what was built, with a user's folder of their own. */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type Client, configure, type TrySetting } from "./clients.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The last final read may still be at work: it ends ten seconds after the last line. */
const REMOVE = { recursive: true, force: true, maxRetries: 60, retryDelay: 500 };

export class Installation {
  readonly setting: TrySetting;
  /** Where the agents work. */
  readonly project: string;
  readonly #isKept: boolean;

  private constructor(setting: TrySetting, project: string, isKept: boolean) {
    this.setting = setting;
    this.project = project;
    this.#isKept = isKept;
  }

  /** `packages` are names on npm, with a version where one is wanted. */
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

  /** Tells `client` of the model and of our server, and has both checked. */
  async setUp(name: string, client: Client): Promise<void> {
    configure(client, this.setting);
    const hooks = name === "claude-code" ? ["--hooks"] : [];
    await this.backscroll(["setup", name, "--yes", "--no-check", ...hooks]);
    console.log((await this.backscroll(["setup", "--check", name])).trimEnd());
  }

  backscroll(args: readonly string[]): Promise<string> {
    return this.run(["backscroll", ...args], {});
  }

  /** What it wrote to standard output; throws, and shows all that it wrote, if it fails. */
  async run(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const [file = "", ...args] = command;
    const { folder, home } = this.setting;
    const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), ownPath()];
    // Nothing of the caller's own agents: a run inside one of them would inherit its session.
    const own = { PATH: path.join(delimiter), HOME: home, USERPROFILE: home, ...env };
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

/** Without folders of npm's own scripts: there may be a `backscroll`, or a client, in them. */
function ownPath(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !/[\\/]node_modules[\\/]/.test(folder)).join(delimiter);
}
