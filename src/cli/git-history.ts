/**
 * What git knows of commits and of the lines of a file, for `blame`: by few calls of git in the
 * caller's repository, none of which writes.
 */

import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { BlamedCommit, BlamedLine } from "../blame/blame.ts";
import { gitEnvironment } from "../ingest/repository/git-objects.ts";
import { BackscrollError } from "../model/errors.ts";

const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
/** Lines of one side of a file; generated files have more. */
const MAX_LINES = 10_000;

export interface History {
  readonly commits: readonly BlamedCommit[];
  /** With the file, relative to the repository. */
  readonly file?: { readonly path: string; readonly lines: readonly BlamedLine[] };
}

interface Options {
  /** Default: the working folder. */
  readonly folder?: string;
  /** Reads trailers of Entire and notes of git-ai. */
  readonly trailers: boolean;
  /** Only the changes of these files, relative to `folder`. Default: all. */
  readonly paths?: readonly string[];
  /** Reads what they change. Default: true. */
  readonly patches?: boolean;
}

/** `FILE[:LINE[-LINE]]`, a commit, or a range of commits. */
export async function readHistory(subject: string, options: Options): Promise<History> {
  const { folder = process.cwd() } = options;
  const [, named = subject, first, last = first] =
    /^(.+?):(\d+)(?:[-,](\d+))?$/.exec(subject) ?? [];
  const range = first === undefined ? undefined : ([Number(first), Number(last)] as const);
  const file = [subject, named].find((name) => existsSync(resolve(folder, name)));
  if (file !== undefined) {
    const lines = file === named ? range : undefined;
    if (statSync(resolve(folder, file)).isDirectory()) {
      throw invalid(`${file} is a folder: name a file in it, a commit or a range (A..B)`);
    }
    if (lines?.[0] === 0) throw invalid("lines are counted from 1, not 0");
    return readFile(resolve(folder, file), lines, options);
  }
  if (range !== undefined)
    throw invalid(`there is no file ${named} here: give its path from the working folder`);
  return {
    commits: await readCommits(await resolveRange(subject, folder), { ...options, folder }),
  };
}

/** The hashes of a commit or of a range: the newest first. */
async function resolveRange(subject: string, folder: string): Promise<readonly string[]> {
  const isRange = subject.includes("..");
  const args = isRange
    ? ["rev-list", "--no-merges", "--end-of-options", subject]
    : ["rev-parse", "--verify", "--quiet", "--end-of-options", `${subject}^{commit}`];
  const found = await git(folder, args).catch((error: unknown) => {
    if (error instanceof GitFailed && error.isMissing) throw error.toError();
    return undefined;
  });
  const hashes = found?.split("\n").filter((line) => line !== "") ?? [];
  if (hashes.length > 0) return hashes;
  throw invalid(
    isRange && found !== undefined
      ? `${subject} has no commits: give A..B, where B has commits that A has not`
      : `${subject} is no file, commit or range (A..B) of the repository here`,
  );
}

const FORMAT = "%x00%H%x00%at%x00%ct%x00%s%x00%B%x00%N%x00";
/** Where one begins. Git shows NULs of files that have none in their first 8,000 bytes. */
const RECORD = /\0(?=(?:[0-9a-f]{40}|[0-9a-f]{64})\0\d+\0\d+\0)/;
const DIFF = names(
  "-p -U0 -M --no-color --no-ext-diff --no-textconv --src-prefix=a/ --dst-prefix=b/",
);

export async function readCommits(
  hashes: readonly string[],
  options: Options,
): Promise<readonly BlamedCommit[]> {
  const { folder = process.cwd(), trailers, paths = [], patches = true } = options;
  if (hashes.length === 0) return [];
  const notes = trailers ? ["--notes=refs/notes/ai"] : ["--no-notes"];
  const args = ["log", "--no-walk=unsorted", "--stdin", "--diff-merges=first-parent", ...notes];
  const log = [...args, ...(patches ? DIFF : ["--no-patch"]), `--format=${FORMAT}`, "--", ...paths];
  const text = await git(folder, log, hashes.join("\n")).catch((error: unknown) => {
    if (!(error instanceof GitFailed) || hashes.length > 1) return undefined;
    throw error.toError();
  });
  // A partial clone lacks files of some commits: of those the message is read, of the others all.
  if (text === undefined) {
    const half = Math.ceil(hashes.length / 2);
    const [first, second] = [hashes.slice(0, half), hashes.slice(half)];
    const parts = [first, second].map((part) =>
      part.length > 1
        ? readCommits(part, options)
        : readCommits(part, options).catch(() => readCommits(part, { ...options, patches: false })),
    );
    return (await Promise.all(parts)).flat();
  }
  const commits: BlamedCommit[] = [];
  const evidence: Evidence[] = [];
  for (const record of text.split(RECORD).slice(1)) {
    const [commit = "", authored, committed, subject = "", message = "", note = "", ...diff] =
      record.split("\0");
    commits.push({
      commit,
      subject,
      authoredAt: 1_000 * Number(authored),
      committedAt: 1_000 * Number(committed),
      files: filesOf(diff.join("\0")),
    });
    evidence.push({ message, note });
  }
  if (!trailers) return commits;
  const sessions = await namedSessions(evidence, folder);
  return commits.map((commit, i) => ({ ...commit, named: sessions[i] ?? [] }));
}

/** The changed lines of a difference without context. */
function filesOf(diff: string): BlamedCommit["files"] {
  const files: { path: string; added: string[]; removed: string[] }[] = [];
  let before = "";
  let file: (typeof files)[number] | undefined;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) file = undefined;
    else if (file === undefined && line.startsWith("--- ")) before = line.slice(4);
    else if (file === undefined && line.startsWith("+++ ")) {
      const after = line.slice(4);
      const name = after === "/dev/null" ? before : after;
      file = { path: name.split("\t")[0]?.replace(/^[ab]\//, "") ?? "", added: [], removed: [] };
      files.push(file);
    } else if (line.startsWith("+")) push(file?.added, line);
    else if (line.startsWith("-")) push(file?.removed, line);
  }
  return files;
}

function push(lines: string[] | undefined, line: string): void {
  if (lines !== undefined && lines.length < MAX_LINES) lines.push(line.slice(1));
}

async function readFile(
  file: string,
  range: readonly [number, number] | undefined,
  { trailers }: Options,
): Promise<History> {
  const folder = dirname(file);
  const part = range === undefined ? [] : ["-L", `${range[0]},${range[1]}`];
  const failed = (error: unknown): never => {
    throw error instanceof GitFailed ? error.toError() : error;
  };
  const [text, places] = await Promise.all([
    git(folder, ["blame", "--porcelain", ...part, "--", basename(file)]).catch(failed),
    git(folder, ["rev-parse", "--show-toplevel", "--show-prefix"]).catch(failed),
  ]);
  const [root = folder, prefix = ""] = places.split("\n");
  const lines: BlamedLine[] = [];
  const paths = new Map<string, string>();
  const names = new Set<string>();
  let [commit, number] = ["", 0];
  for (const line of text.split("\n")) {
    const [, hash, now] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(line) ?? [];
    const [, before, name] = /^(?:previous [0-9a-f]+ (.+)|filename (.+))$/.exec(line) ?? [];
    if (line.startsWith("\t")) {
      lines.push({ commit, path: paths.get(commit) ?? "", number, text: line.slice(1) });
    } else if (hash !== undefined) [commit, number] = [hash, Number(now)];
    else if (name !== undefined) paths.set(commit, name);
    names.add(name ?? before ?? `${prefix}${basename(file)}`);
  }
  const hashes = [...new Set(lines.map((line) => line.commit))];
  const made = hashes.filter((hash) => !/^0+$/.test(hash));
  // A file of a thousand lines has commits with fifty thousand.
  const commits = [...(await readCommits(made, { folder: root, trailers, paths: [...names] }))];
  const path = `${prefix}${basename(file)}`;
  const open = hashes.find((hash) => /^0+$/.test(hash));
  if (open !== undefined) commits.push(await uncommitted(open, folder, basename(file)));
  return { commits, file: { path, lines } };
}

/** The changes of a file that are not committed yet, as a commit of now. */
async function uncommitted(commit: string, folder: string, name: string): Promise<BlamedCommit> {
  const diff = await git(folder, ["diff", "HEAD", ...DIFF, "--", name]);
  const now = Date.now();
  const subject = "not committed yet";
  return { commit, subject, authoredAt: now, committedAt: now, files: filesOf(diff), named: [] };
}

/** What may name the sessions of a commit. */
interface Evidence {
  /** Its trailers may be anywhere in it: a squash keeps those of each of its commits. */
  readonly message: string;
  readonly note: string;
}

/** Twelve hexadecimal digits, or a ULID. */
const CHECKPOINT = /^Entire-Checkpoint:\s*([0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})\s*$/gm;
const SESSION = /^Entire-Session:\s*(?:\d{4}-\d{2}-\d{2}-)?(\S+)\s*$/gm;
/** Where Entire keeps which sessions a checkpoint is of: a reference each, or a folder of a branch. */
const REFERENCES = "refs/entire/checkpoints";
const BRANCHES = ["entire/checkpoints/v1", "origin/entire/checkpoints/v1"];

/** For each commit, the agents' ids of the sessions that its message and its note name. */
async function namedSessions(
  evidence: readonly Evidence[],
  folder: string,
): Promise<readonly (readonly string[])[]> {
  const wanted = evidence.map(({ message }) => idsIn(message, CHECKPOINT));
  const known = await checkpointSessions(new Set(wanted.flat()), folder);
  return evidence.map(({ message, note }, i) => [
    ...new Set([
      ...idsIn(message, SESSION),
      ...(wanted[i] ?? []).flatMap((checkpoint) => known.get(checkpoint) ?? []),
      ...sessionsOfNote(note),
    ]),
  ]);
}

function idsIn(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, id]) => id as string);
}

/** Of each known checkpoint, the agents' ids of its sessions. */
async function checkpointSessions(
  wanted: ReadonlySet<string>,
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<string, readonly string[]>();
  if (wanted.size === 0) return known;
  // Paths are of the whole repository.
  const top = await git(folder, ["rev-parse", "--show-toplevel"]).catch(() => folder);
  const root = top.trim();
  const references = await git(root, ["for-each-ref", "--format=%(refname)", REFERENCES]);
  for (const name of references.split("\n")) {
    const id = name.split("/").at(-1) ?? "";
    if (!wanted.has(id)) continue;
    known.set(
      id,
      (await sessionsIn(name, [], root)).map(({ session }) => session),
    );
  }
  for (const branch of BRANCHES) {
    const left = [...wanted].filter((id) => !known.has(id));
    if (left.length === 0) break;
    const folders = left.map((id) => `${id.slice(0, 2)}/${id.slice(2)}`);
    for (const { path, session } of await sessionsIn(branch, folders, root)) {
      const id = path.split("/").slice(0, 2).join("");
      known.set(id, [...(known.get(id) ?? []), session]);
    }
  }
  return known;
}

const IN_METADATA = /:([^:]*metadata\.json):"session_id": *"(?:\d{4}-\d{2}-\d{2}-)?([^"]+)"$/gm;

/** The agents' ids in the metadata of a tree, or of folders of it. */
async function sessionsIn(
  tree: string,
  folders: readonly string[],
  folder: string,
): Promise<readonly { readonly path: string; readonly session: string }[]> {
  const list = ["ls-tree", "-r", "--name-only", "--full-tree", tree, "--", ...folders];
  const listed = (await git(folder, list).catch(() => "")).split("\n");
  const files = listed.filter((name) => /(?:^|\/)metadata\.json$/.test(name));
  if (files.length === 0) return [];
  const grep = ["grep", "--no-color", "--full-name", "-o", "-E", '"session_id": *"[^"]+"', tree];
  const found = await git(folder, [...grep, "--", ...files]).catch(() => "");
  return Array.from(found.matchAll(IN_METADATA), ([, path = "", session = ""]) => ({
    path,
    session,
  }));
}

type Agents = Readonly<Record<string, { readonly agent_id?: { readonly id?: unknown } } | null>>;

/** Of a note of git-ai: attestations, a line of dashes, and JSON with the agents' sessions. */
function sessionsOfNote(note: string): readonly string[] {
  const [, json] = /(?:^|\n)---\s*\n(\{[\s\S]*)$/.exec(note) ?? [];
  if (json === undefined) return [];
  try {
    const { prompts, sessions } = JSON.parse(json) as {
      // Older versions have a prompt each, later ones a session.
      readonly prompts?: Agents | null;
      readonly sessions?: Agents | null;
    };
    return Object.values({ ...prompts, ...sessions }).flatMap((each) =>
      typeof each?.agent_id?.id === "string" ? [each.agent_id.id] : [],
    );
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

class GitFailed extends Error {
  readonly isMissing: boolean;

  constructor(error: Error, stderr: string) {
    const said = stderr.split("\n").find((line) => /^(?:fatal|error):/.test(line));
    super(said ?? error.message, { cause: error });
    this.isMissing =
      (error as NodeJS.ErrnoException).code === "ENOENT" || /not a git repository/i.test(stderr);
  }

  toError(): BackscrollError {
    const said = this.message.replace(/^fatal: /, "");
    const [, uncommitted] = /^no such path '(.+)' in /.exec(said) ?? [];
    if (uncommitted !== undefined) {
      return invalid(`${uncommitted} is not committed yet, so no line of it has a commit`);
    }
    return invalid(
      this.isMissing && /not a git repository/i.test(said)
        ? "there is no git repository here: run it in a clone"
        : `git: ${said}`,
    );
  }
}

/** Nothing that a repository's settings could start. */
const SAFE = names(
  "--no-pager --literal-pathspecs -c core.quotePath=false -c core.fsmonitor=false -c log.showSignature=false",
);

function git(folder: string, args: readonly string[], input = ""): Promise<string> {
  return new Promise((done, fail) => {
    const child = execFile(
      "git",
      [...SAFE, ...args],
      {
        cwd: folder,
        maxBuffer: MAX_OUTPUT_BYTES,
        env: { ...gitEnvironment(), LC_ALL: "C" },
      },
      (error, stdout, stderr) => {
        if (error === null) done(stdout);
        else fail(new GitFailed(error, stderr));
      },
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

function invalid(sentence: string): BackscrollError {
  return new BackscrollError("invalid_input", sentence, { details: { field: "subject" } });
}

function names(text: string): readonly string[] {
  return text.split(" ");
}
