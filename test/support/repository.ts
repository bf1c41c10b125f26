/** A repository of git in a temporary folder. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "./folder.ts";

const START = Date.UTC(2026, 0, 5, 9);
const MINUTE = 60_000;

/** A repository, and the time of its next commit. */
export class Repository {
  readonly folder: string;
  now: number = START;

  constructor(onFinished: (remove: () => void) => void) {
    this.folder = createFolder(onFinished);
    this.git("init", "-q", "-b", "main");
    this.write("README.md", ["A shop that was here before any conversation."]);
    this.commit("Begin the shop");
  }

  git(...args: readonly string[]): string {
    const at = `${Math.floor(this.now / 1_000)} +0000`;
    const env = {
      ...process.env,
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "Ana",
      GIT_AUTHOR_EMAIL: "ana@shop.example",
      GIT_COMMITTER_NAME: "Ana",
      GIT_COMMITTER_EMAIL: "ana@shop.example",
    };
    const { folder: cwd } = this;
    return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
  }

  write(path: string, lines: readonly string[]): void {
    mkdirSync(join(this.folder, "src"), { recursive: true });
    writeFileSync(join(this.folder, path), `${lines.join("\n")}\n`);
  }

  commit(subject: string): string {
    this.now += MINUTE;
    this.git("add", "-A");
    this.git("commit", "-q", "-m", subject);
    return this.git("rev-parse", "HEAD");
  }
}
