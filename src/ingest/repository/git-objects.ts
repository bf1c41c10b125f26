/**
 * Reads objects of a git repository, by git itself: only it knows packs, alternates and both hashes.
 *
 * Nothing is fetched or written, and nothing runs that the repository's settings name.
 */

import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** Nothing is fetched, and no other repository is meant, as in a hook of one. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return {
    ...Object.fromEntries(own),
    GIT_OPTIONAL_LOCKS: "0",
    // A partial clone fetches what it lacks, by a program that its settings may name. Older versions
    // of git know only the list of allowed protocols.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
  };
}

export interface TreeEntry {
  readonly name: string;
  readonly id: string;
  readonly isTree: boolean;
}

const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

export class GitObjects implements AsyncDisposable {
  readonly #folder: string;
  #process: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #output: AsyncIterator<Buffer> | undefined;
  #rest: Buffer = Buffer.alloc(0);

  /** `folder` is that of the repository's own files: `.git`, or a bare clone. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The references below `patterns`, with the commits they name. */
  async references(
    ...patterns: readonly string[]
  ): Promise<readonly { readonly name: string; readonly id: string }[]> {
    const text = await this.#run([
      "for-each-ref",
      "--format=%(objectname) %(refname)",
      ...patterns,
    ]);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({
        id: line.slice(0, line.indexOf(" ")),
        name: line.slice(line.indexOf(" ") + 1),
      }));
  }

  /** The files of a commit, by their paths. */
  async files(commit: string): Promise<readonly { readonly path: string; readonly id: string }[]> {
    const text = await this.#run(["ls-tree", "-r", "-z", "--full-tree", commit]);
    return text.split("\0").flatMap((entry) => {
      const [, id, path] = /^\d+ blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? [];
      return id === undefined || path === undefined ? [] : [{ id, path }];
    });
  }

  /** The sizes of objects; without those that are not here. */
  async sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const format = "--batch-check=%(objectname) %(objectsize)";
    const text =
      ids.length === 0 ? "" : await this.#run(["cat-file", format], `${ids.join("\n")}\n`);
    const known = text.split("\n").map((line) => line.split(" "));
    return new Map(
      known.flatMap(([id = "", size]) => (/^\d+$/.test(size ?? "") ? [[id, Number(size)]] : [])),
    );
  }

  /** The entries of a tree, or of a commit's; none if it is not here. */
  async tree(id: string): Promise<readonly TreeEntry[]> {
    const found = await this.read(`${id}^{tree}`, MAX_OUTPUT_BYTES);
    if (found === undefined) return [];
    const entries: TreeEntry[] = [];
    // An entry is `<mode> <name>\0` and the bytes of its id.
    const width = id.length / 2;
    for (let at = 0; at < found.length; ) {
      const space = found.indexOf(0x20, at);
      const end = found.indexOf(0, space);
      if (space < 0 || end < 0) break;
      entries.push({
        name: found.toString("utf8", space + 1, end),
        id: found.toString("hex", end + 1, end + 1 + width),
        isTree: found.toString("latin1", at, space) === "40000",
      });
      at = end + 1 + width;
    }
    return entries;
  }

  /** Undefined if it is not here, or longer. One call at a time. */
  async read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    this.#start().stdin.write(`${name}\n`);
    let end = this.#rest.indexOf(0x0a);
    while (end < 0 && (await this.#more())) end = this.#rest.indexOf(0x0a);
    if (end < 0) throw new Error(`git ended while it read ${name}`);
    const [, size] = / (\d+)$/.exec(this.#rest.toString("latin1", 0, end)) ?? [];
    this.#rest = this.#rest.subarray(end + 1);
    if (size === undefined) return undefined;
    // A line break follows the content.
    return this.#take(Number(size) + 1, maxBytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.stdin.end();
    this.#process?.kill();
    await this.#output?.return?.();
  }

  async #take(length: number, maxBytes: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) throw new Error("git ended too early");
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      if (length <= maxBytes) parts.push(part);
    }
    return length <= maxBytes ? Buffer.concat(parts).subarray(0, length - 1) : undefined;
  }

  async #more(): Promise<boolean> {
    const next = await this.#output?.next();
    if (next === undefined || next.done) return false;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    return true;
  }

  #start(): ChildProcessByStdio<Writable, Readable, null> {
    if (this.#process !== undefined) return this.#process;
    const git = spawn("git", [...this.#arguments, "cat-file", "--batch"], {
      env: gitEnvironment(),
      stdio: ["pipe", "pipe", "ignore"],
    });
    // What went wrong is told by the end of the output.
    git.on("error", () => git.stdout.destroy());
    git.stdin.on("error", () => undefined);
    this.#output = git.stdout[Symbol.asyncIterator]();
    this.#process = git;
    return git;
  }

  get #arguments(): readonly string[] {
    return [`--git-dir=${this.#folder}`, "--no-pager", "-c", "core.fsmonitor=false"];
  }

  #run(args: readonly string[], input = ""): Promise<string> {
    const options = { env: { ...gitEnvironment(), LC_ALL: "C" }, maxBuffer: MAX_OUTPUT_BYTES };
    return new Promise((resolve, reject) => {
      const git = execFile("git", [...this.#arguments, ...args], options, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
      git.stdin?.on("error", () => undefined);
      git.stdin?.end(input);
    });
  }
}
