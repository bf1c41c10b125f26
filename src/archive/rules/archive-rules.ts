/**
 * What a person wants stored: the rules of `ignore` and `keep` in the configuration, and the files
 * `.backscrollignore`.
 *
 * They are read again for every run, so that a process that follows transcripts for days obeys a
 * new rule. A configuration that cannot be read is an error of the run: nothing is stored then.
 */

import { statSync } from "node:fs";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { TenantApi } from "../../engine/interfaces.ts";
import { configPlace } from "../../gateway/config/find-config.ts";
import type { IgnoreConfig } from "../../gateway/config/gateway-config.ts";
import type { GitLookup } from "../../ingest/identity/git.ts";
import { normalizeRemote } from "../../ingest/machine-paths.ts";
import type { Environment, ImportedSession } from "../../ingest/source.ts";
import { BackscrollError } from "../../model/errors.ts";
import { didYouMean } from "../../model/suggest.ts";
import { INCOGNITO, isIncognito } from "./incognito.ts";

// The file `.backscrollignore`: conversations of agents that work in its folder, or in folders that
// its lines name, are never stored.
//
// A line is a pattern of folders in the manner of gitignore, without negation and classes. A file
// that cannot be read counts as one without lines, which names everything.

const IGNORE_FILE = ".backscrollignore";

interface Rule {
  /** As reports name it: the setting and its value. */
  readonly name: string;
  /** `folder` is the working folder in plain form, `remote` that of its repository. */
  readonly fits: (folder: string, remote: string | null) => boolean;
}

export class ArchiveRules {
  readonly #environment: Environment;
  readonly #git: GitLookup;
  readonly #agents: readonly string[];
  #read = "";
  #ignore: IgnoreConfig = { folders: [], repositories: [], agents: [], patterns: [] };
  #rules: readonly Rule[] = [];
  #keepMs: number | null = null;
  #verdicts = new Map<string, Promise<string | undefined>>();

  /** `agents` are the names of the known formats. */
  constructor(environment: Environment, git: GitLookup, agents: readonly string[]) {
    this.#environment = environment;
    this.#git = git;
    this.#agents = agents;
  }

  /** How long sessions are kept after their last message; null: for ever. */
  get keepMs(): number | null {
    return this.#keepMs;
  }

  /** The rules of the configuration, as reports name them. */
  get names(): readonly string[] {
    return [
      ...this.#ignore.agents.map((agent) => `ignore.agents ${agent}`),
      ...this.#rules.map(({ name }) => name),
    ];
  }

  /** Reads the files again. Throws `invalid_input` naming the setting that is wrong. */
  async refresh(): Promise<void> {
    this.#verdicts = new Map();
    const { home, variables } = this.#environment;
    const { path, isNamed } = configPlace(home, variables);
    const facts = statSync(path, { throwIfNoEntry: false });
    const mark = facts === undefined ? "" : `${path} ${facts.mtimeMs} ${facts.size} ${facts.ino}`;
    if (mark === this.#read && !(facts === undefined && isNamed)) return;
    const { loadConfig } = await import("../../gateway/config/read-config.ts");
    const { ignore, keep } = loadConfig(home, variables).config;
    for (const name of ignore.agents) {
      if (this.#agents.includes(name)) continue;
      const way = didYouMean(name, this.#agents) || `; known are ${this.#agents.join(", ")}`;
      throw wrong("ignore.agents", `has no agent ${JSON.stringify(name)}${way}; see ${path}`);
    }
    this.#rules = await this.#compile(ignore, path);
    this.#ignore = ignore;
    this.#keepMs = keep;
    this.#read = mark;
  }

  /** The rule that keeps the session out of the store. */
  async find({
    source,
    agent,
    cwd,
    repo,
  }: Pick<ImportedSession, "source" | "agent" | "cwd" | "repo">): Promise<string | undefined> {
    const named = this.#ignore.agents.find((name) => name === source || name === agent);
    if (named !== undefined) return `ignore.agents ${named}`;
    const key = JSON.stringify([cwd, repo]);
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#findFolder(cwd, repo ?? null);
      this.#verdicts.set(key, verdict);
    }
    return verdict;
  }

  /**
   * The rule for a folder of which only the name is known that Claude Code derives from its path.
   * Folders beside an ignored one may share its beginning: they are left out, too.
   */
  findEncoded(name: string): string | undefined {
    const folder = this.#ignore.folders.find((each) => {
      const encoded = this.#toPath(each).replace(/[^A-Za-z0-9]/g, "-");
      return name === encoded || name.startsWith(`${encoded}-`);
    });
    return folder === undefined ? undefined : `ignore.folders ${folder}`;
  }

  async #compile(ignore: IgnoreConfig, path: string): Promise<readonly Rule[]> {
    const folders = await Promise.all(
      ignore.folders.map(async (text) => {
        if (!isPath(text)) {
          const what = `must have absolute paths, or such that begin with ~/, not ${JSON.stringify(text)}`;
          throw wrong("ignore.folders", `${what}; see ${path}`);
        }
        return { name: `ignore.folders ${text}`, fits: await this.#below(text) };
      }),
    );
    const repositories = await Promise.all(
      ignore.repositories.map(async (text) => {
        const name = `ignore.repositories ${text}`;
        if (isPath(text)) return { name, fits: await this.#below(text) };
        const wanted = normalizeRemote(text).toLowerCase();
        const fits = (_: string, remote: string | null) =>
          `/${remote?.toLowerCase() ?? ""}`.endsWith(`/${wanted}`);
        return { name, fits };
      }),
    );
    const patterns = ignore.patterns.map((text) => {
      const pieces = text.toLowerCase().split("*");
      const fits = (folder: string) => hasInOrder(folder.toLowerCase(), pieces);
      return { name: `ignore.patterns ${text}`, fits };
    });
    return [...folders, ...repositories, ...patterns];
  }

  /** Whether a folder is the named one or below it, by either's path without links. */
  async #below(text: string): Promise<(folder: string) => boolean> {
    const forms = (await formsOf(this.#toPath(text))).map((form) => this.#toPlain(form));
    return (folder) => forms.some((form) => `${folder}/`.startsWith(`${form}/`));
  }

  async #findFolder(cwd: string | null, known: string | null): Promise<string | undefined> {
    const isLocal = cwd !== null && isAbsolute(cwd);
    const git =
      isLocal && this.#ignore.repositories.length > 0 ? await this.#git.find(cwd) : undefined;
    const forms = cwd === null ? [""] : isLocal ? await formsOf(cwd) : [cwd];
    for (const form of forms) {
      const plain = this.#toPlain(form);
      const rule = this.#rules.find(
        ({ fits }) => fits(plain, git?.remote ?? null) || fits(plain, known),
      );
      if (rule !== undefined) return rule.name;
      const file = isLocal ? await this.#findFile(form) : undefined;
      if (file !== undefined) return file;
    }
    return undefined;
  }

  async #findFile(cwd: string): Promise<string | undefined> {
    const below: string[] = [];
    for (let folder = resolve(cwd); ; folder = dirname(folder)) {
      const ignored = await readIgnoreFile(folder);
      if (ignored !== undefined && isIgnoredFolder(ignored, below))
        return join(folder, IGNORE_FILE);
      if (dirname(folder) === folder) return undefined;
      below.unshift(basename(folder));
    }
  }

  #toPath(text: string): string {
    return resolve(text.replace(/^~(?=$|[/\\])/, this.#environment.home));
  }

  /** In the form that is compared: with `/`, without one at the end, and in one case where paths have none. */
  #toPlain(path: string): string {
    const { platform } = this.#environment;
    const slashed = platform === "win32" ? path.replaceAll("\\", "/") : path;
    const plain = slashed.endsWith("/") ? slashed.slice(0, -1) : slashed;
    return platform === "win32" || platform === "darwin" ? plain.toLowerCase() : plain;
  }
}

function isPath(text: string): boolean {
  return isAbsolute(text) || /^~(?:$|[/\\])/.test(text);
}

/** The path as given, and without symbolic links. */
async function formsOf(path: string): Promise<readonly string[]> {
  const real = await realPathOf(path);
  return real === path ? [path] : [path, real];
}

/** Of a path that is gone, the part that is still there counts. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}

function hasInOrder(text: string, pieces: readonly string[]): boolean {
  let at = 0;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}

function wrong(field: string, what: string): BackscrollError {
  return new BackscrollError("invalid_input", `${field} ${what}`, { details: { field } });
}

/** More bytes are no list of folders. */
const MAX_BYTES = 64 * 1024;

/** Stands for any number of folders. */
const ANY = "**";

/** Each pattern as names of folders; one of them matches a path or its beginning. */
type IgnoredFolders = readonly (readonly string[])[];

const EVERYTHING: IgnoredFolders = [[ANY]];

/** Undefined if the folder has no such file. */
export async function readIgnoreFile(folder: string): Promise<IgnoredFolders | undefined> {
  const path = join(folder, IGNORE_FILE);
  try {
    const facts = await stat(path);
    // A pipe would wait for a writer.
    if (!facts.isFile() || facts.size > MAX_BYTES) return EVERYTHING;
  } catch {
    // There is none, or the folder is another user's; else it is a link to nowhere.
    return lstat(path).then(
      () => EVERYTHING,
      () => undefined,
    );
  }
  try {
    return parseIgnoreFile(await readFile(path, "utf8"));
  } catch {
    return EVERYTHING;
  }
}

export function parseIgnoreFile(text: string): IgnoredFolders {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length === 0 ? EVERYTHING : lines.map(toNames);
}

function toNames(line: string): readonly string[] {
  const names = line.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0 || (names.length === 1 && names[0] === "*")) return [ANY];
  // As in gitignore: a single name occurs at any depth, unless a slash precedes it.
  const isAnchored = line.startsWith("/") || names.length > 1;
  return [...(isAnchored ? [] : [ANY]), ...names, ANY];
}

/** Whether one of the patterns matches `names`, a path relative to the file's folder. */
export function isIgnoredFolder(ignored: IgnoredFolders, names: readonly string[]): boolean {
  return ignored.some((pattern) =>
    fits(pattern, names, ANY, (wanted, name) =>
      fits([...wanted], [...name], "*", (one, other) => one === other),
    ),
  );
}

/**
 * Whether `items` are those of `pattern`, with any number of them for each `star`. Only the last
 * star is ever tried again, so the time is at most the product of both lengths.
 */
function fits(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  isSame: (wanted: string, item: string) => boolean,
): boolean {
  let [at, item, lastStar, resumed] = [0, 0, -1, 0];
  while (item < items.length) {
    const wanted = pattern[at];
    if (wanted === star) [lastStar, resumed, at] = [at, item, at + 1];
    else if (wanted !== undefined && isSame(wanted, items[item] as string))
      [at, item] = [at + 1, item + 1];
    else if (lastStar >= 0) [at, item, resumed] = [lastStar + 1, resumed + 1, resumed + 1];
    else return false;
  }
  return pattern.slice(at).every((wanted) => wanted === star);
}

/** What decides about a session, without its content. */
export interface IgnorableSession
  extends Pick<ImportedSession, "source" | "agent" | "cwd" | "repo"> {
  /** The session's own id. */
  readonly id: string;
  readonly parent: string | null;
}

export function toIgnorable(
  { source, agent, cwd, repo, parentSession }: ImportedSession,
  id: string,
): IgnorableSession {
  return { source, agent, id, cwd, parent: parentSession, ...(repo === undefined ? {} : { repo }) };
}

/** The name of the rule that keeps the session out; undefined: it is stored. */
export async function findIgnoringRule(
  { rules, tenant }: { readonly rules: ArchiveRules; readonly tenant: TenantApi },
  session: IgnorableSession,
): Promise<string | undefined> {
  const rule = await rules.find(session);
  if (rule !== undefined) return rule;
  return (await isIncognito(tenant, session.id, session.parent)) ? INCOGNITO : undefined;
}
