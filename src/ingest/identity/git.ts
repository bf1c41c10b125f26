/**
 * The repository of a folder, read from `.git` without running git.
 *
 * A project's id is its path, so two clones and two worktrees of one repository are different
 * projects; their common remote lets them be searched together. Running git would cost a process
 * per folder, and would execute a stranger's configuration.
 */

import { lstat, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { normalizeRemote } from "../machine-paths.ts";

export interface GitAttributes {
  /** Without user names, passwords and the suffix `.git`, for any protocol. */
  readonly remote: string | null;
  /** The top folder of the checkout. */
  readonly worktree: string;
}

/** Limit of the search for a checkout's root. */
const MAX_LEVELS = 40;

/** A configuration has a few hundred bytes; larger files are ignored. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Caches each folder: agents write thousands of sessions in the same few. */
export class GitLookup {
  readonly #known = new Map<string, Promise<GitAttributes | undefined>>();

  /** Undefined if the folder is in no repository, or is not on this machine. */
  find(cwd: string): Promise<GitAttributes | undefined> {
    let found = this.#known.get(cwd);
    if (found === undefined) {
      // Bounded: transcripts may name any number of folders.
      if (this.#known.size >= 10_000) this.#known.clear();
      found = findGit(cwd);
      this.#known.set(cwd, found);
    }
    return found;
  }
}

/** A repository by its top folder: that of a checkout, or a bare clone. */
export interface Repository {
  /** The folder of git's own files, which all worktrees share. */
  readonly gitFolder: string;
  readonly isBare: boolean;
  readonly remote: string | null;
}

/** Undefined if `folder` is not the top of a repository. */
export async function repositoryAt(folder: string): Promise<Repository | undefined> {
  const inside = await gitFolderOf(folder);
  if (inside === undefined && !(await isGitFolder(folder))) return undefined;
  const gitFolder = await commonFolder(inside ?? folder);
  const config = await readSmall(join(gitFolder, "config"));
  return { gitFolder, isBare: inside === undefined, remote: parseRemote(config ?? "") };
}

async function isGitFolder(folder: string): Promise<boolean> {
  const parts = ["HEAD", "objects", "refs"].map((name) => lstat(join(folder, name)));
  return (await Promise.allSettled(parts)).every(({ status }) => status === "fulfilled");
}

async function findGit(cwd: string): Promise<GitAttributes | undefined> {
  if (!isAbsolute(cwd) || cwd.includes("\0")) return undefined;
  let folder = resolve(cwd);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const gitFolder = await gitFolderOf(folder);
    if (gitFolder !== undefined) {
      const config = await readSmall(join(await commonFolder(gitFolder), "config"));
      return { remote: parseRemote(config ?? ""), worktree: folder };
    }
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}

/** The folder `.git`, or the one named in the file `.git` of a worktree or a submodule. */
async function gitFolderOf(folder: string): Promise<string | undefined> {
  const path = join(folder, ".git");
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory()) return path;
  if (!found?.isFile()) return undefined;
  const named = /^gitdir:\s*(.+)$/m.exec((await readSmall(path)) ?? "")?.[1]?.trim();
  return named === undefined ? undefined : resolve(folder, named);
}

/** A worktree's own folder has no configuration: it names the shared one. */
async function commonFolder(gitFolder: string): Promise<string> {
  const named = (await readSmall(join(gitFolder, "commondir")))?.trim();
  return named ? resolve(gitFolder, named) : gitFolder;
}

/** `origin`, else the first remote with a URL. */
export function parseRemote(config: string): string | null {
  let name: string | undefined;
  let first: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) name = /^\s*remote\s+"(.*)"\s*$/.exec(section)?.[1];
    const url = name === undefined ? undefined : /^\s*url\s*=\s*(\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    if (name === "origin") return normalizeRemote(url);
    first ??= url;
  }
  return first === undefined ? null : normalizeRemote(first);
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.size > MAX_CONFIG_BYTES) return undefined;
    return await readFile(path, "utf8");
  } catch {
    // Missing or unreadable: the repository is unknown.
    return undefined;
  }
}
