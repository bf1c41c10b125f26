/**
 * Says of hits how many of their files commits have changed since, for callers in the repository of
 * the hit: what was true of a file then may not be now.
 *
 * By one `git log` for all hits, within a time limit. Silent where git is absent, slow or refuses.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { toolEffects } from "../compaction/digest/ledger.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { SearchResult } from "../engine/search.ts";
import { gitEnvironment } from "../ingest/repository/git-objects.ts";
import { inputTextOf } from "../model/block.ts";

type Hit = SearchResult["hits"][number];

/** For all hits together: an answer must not wait for a note. */
const LIMIT_MS = 50;
const MAX_PATHS = 500;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

interface Place {
  /** The caller's folder. */
  readonly folder?: string;
  readonly limitMs?: number;
}

export async function withChangedFiles(
  tenant: TenantApi,
  hits: readonly Hit[],
  { folder = process.cwd(), limitMs = LIMIT_MS }: Place = {},
): Promise<readonly Hit[]> {
  const root = findRoot(folder);
  if (root === undefined || hits.length === 0) return hits;
  const late = AbortSignal.timeout(limitMs);
  const work = addChangedFiles(tenant, hits, root, late).catch(() => hits);
  const { promise: ended, resolve: end } = Promise.withResolvers<readonly Hit[]>();
  late.addEventListener("abort", () => end(hits));
  return Promise.race([work, ended]);
}

/** The nearest folder with a `.git`. */
function findRoot(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

async function addChangedFiles(
  tenant: TenantApi,
  hits: readonly Hit[],
  root: string,
  late: AbortSignal,
): Promise<readonly Hit[]> {
  const files = await Promise.all(hits.map((hit) => filesOf(tenant, hit, root, late)));
  const paths = [...new Set(files.flatMap((each) => [...each]))];
  // A part of the paths would say too few changes.
  if (paths.length === 0 || paths.length > MAX_PATHS || late.aborted) return hits;
  const touching = hits.filter((_, i) => (files[i]?.size ?? 0) > 0);
  const commits = await readCommits(root, Math.min(...touching.map(timeOf)), paths, late);
  return hits.map((hit, i) => {
    const own = files[i] ?? new Set();
    const later = commits.filter(
      (commit) => commit.at > timeOf(hit) && commit.files.some((file) => own.has(file)),
    );
    // The newest is first.
    const [last] = later;
    if (last === undefined) return hit;
    const all = new Set(later.flatMap((commit) => commit.files));
    const changed = [...own].filter((file) => all.has(file)).length;
    const { hash: commit, at: committedAt } = last;
    return { ...hit, changedFiles: { touched: own.size, changed, commit, committedAt } };
  });
}

function timeOf({ window, meta }: Hit): number {
  return window.find(({ found }) => found)?.createdAt ?? meta.updatedAt;
}

/** The files within `root` that the calls of a hit's window read or changed, relative to it. */
async function filesOf(
  tenant: TenantApi,
  { sessionId, window, leaf }: Hit,
  root: string,
  late: AbortSignal,
): Promise<ReadonlySet<string>> {
  const [first] = window;
  if (first === undefined || window.every(({ toolName }) => toolName === null)) return new Set();
  const { origin } = await tenant.getSessionMeta(sessionId);
  if (late.aborted || relativeTo(root, origin.projectPath ?? "/") === undefined) return new Set();
  const path = leaf === null ? {} : { leaf };
  const page = { offset: first.index, limit: window.length, preview: true, ...path };
  const { messages } = await tenant.listMessages(sessionId, page);
  // A long input is not in a preview.
  const whole = messages.map((message) => {
    const isCut = message.truncated && message.blocks.some(({ type }) => type === "tool_use");
    return isCut ? tenant.getEntry(message.id) : message;
  });
  const paths = (await Promise.all(whole)).flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type !== "tool_use") return [];
      const { changed, read } = toolEffects(block.name, inputTextOf(block));
      return [...changed, ...read];
    }),
  );
  const project = origin.projectPath ?? root;
  const inside = paths.flatMap((name) => relativeTo(root, resolve(project, name)) ?? []);
  return new Set(inside.filter((name) => name !== "" && !name.includes("\0")));
}

/** Undefined outside of `root`. */
function relativeTo(root: string, path: string): string | undefined {
  const found = relative(root, path);
  const isOutside = found === ".." || found.startsWith(`..${sep}`) || resolve(found) === found;
  return isOutside ? undefined : found.split(sep).join("/");
}

interface Commit {
  readonly hash: string;
  readonly at: number;
  readonly files: readonly string[];
}

/** The newest first. */
async function readCommits(
  root: string,
  since: number,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly Commit[]> {
  const args = [
    "--no-pager",
    "--literal-pathspecs",
    "-C",
    root,
    // Nothing that a repository's settings could start.
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "log",
    "-z",
    `--since=${new Date(since).toISOString()}`,
    "--format=%x00%h %ct",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--",
    ...paths,
  ];
  const { promise, resolve: answer, reject } = Promise.withResolvers<string>();
  const options = {
    signal,
    env: gitEnvironment(),
    maxBuffer: MAX_OUTPUT_BYTES,
    killSignal: "SIGKILL",
  } as const;
  execFile("git", args, options, (error, output) => (error ? reject(error) : answer(output)));
  return parseLog(await promise);
}

/** Each commit begins with an empty text. A line break precedes its first file. */
function parseLog(output: string): readonly Commit[] {
  const commits: { hash: string; at: number; files: string[] }[] = [];
  const parts = output.split("\0").slice(0, -1);
  for (let i = 0; i < parts.length; i++) {
    const [part = "", head = ""] = parts.slice(i, i + 2);
    const files = commits.at(-1)?.files;
    if (part !== "") files?.push(files.length === 0 ? part.slice(1) : part);
    else {
      const [hash = "", seconds] = head.split(" ");
      commits.push({ hash, at: 1_000 * Number(seconds), files: [] });
      i++;
    }
  }
  return commits;
}
