/**
 * Puts the kept bytes of a session's files back where its agent expects them: agents delete
 * transcripts after weeks.
 *
 * A file that is there stays, unless it is the beginning of what was kept. The time of a restored
 * file is now: agents delete by it.
 */

import type { Stats } from "node:fs";
import { chmod, link, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { TenantApi } from "../engine/interfaces.ts";
import type { Environment } from "../ingest/source.ts";
import { SOURCES } from "../ingest/sources.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Session } from "../model/session.ts";
import type { Original, OriginalQuery } from "../store/ingested-file.ts";
import { isPart, readOriginal } from "./originals.ts";

export interface RestoreOptions {
  readonly environment: Environment;
  /** Where the project is now; absent: where it was. */
  readonly cwd?: string;
  /** Only says what would be done. */
  readonly dryRun?: boolean;
}

export interface RestoredFile {
  readonly path: string;
  readonly size: number;
  /**
   * `written`: from nothing, or from a file that was its beginning. `would_write`: so without
   * `dryRun`. `there`: it has these bytes, or
   * more of them. `differs`: another file has the name, and stays. `no_place`: it
   * is not where its agent keeps the files of sessions, or it is settings. `failed`: `problem` says why.
   */
  readonly outcome: "written" | "would_write" | "there" | "differs" | "no_place" | "failed";
  readonly problem?: string;
}

const PAGE = 200;

/** Of a session's transcript and all that belongs to it: sub-agents, results of tools. */
export async function restoreSession(
  tenant: TenantApi,
  session: Pick<Session, "id">,
  options: RestoreOptions,
): Promise<RestoredFile[]> {
  const files: RestoredFile[] = [];
  for (const original of await originalsOf(tenant, session.id)) {
    files.push(await restoreFile(tenant, original, options));
  }
  return files;
}

/** The file that the session's agent would open; undefined without kept bytes. */
export async function findTranscript(
  tenant: TenantApi,
  sessionId: string,
  options: RestoreOptions,
): Promise<string | undefined> {
  for await (const original of listOriginals(tenant, { sessionId })) {
    if (!isPart(original)) return placeOf(original, options);
  }
  return undefined;
}

async function originalsOf(tenant: TenantApi, sessionId: string): Promise<Original[]> {
  const found = new Map<string, Original>();
  const add = (original: Original) =>
    found.set(`${original.workstation}\0${original.path}`, original);
  for await (const own of listOriginals(tenant, { sessionId })) {
    add(own);
    if (!isPart(own)) for await (const other of originalsBelow(tenant, own)) add(other);
  }
  return [...found.values()];
}

/** What lies in the folder that is named as the transcript is. */
async function* originalsBelow(
  tenant: TenantApi,
  { workstation, path }: Original,
): AsyncGenerator<Original> {
  const ending = path.lastIndexOf(".");
  // Paths are as their system writes them; a backslash may be in a name of the others.
  const isPosix = path.startsWith("/");
  const folder = Math.max(path.lastIndexOf("/"), isPosix ? -1 : path.lastIndexOf("\\"));
  if (ending <= folder) return;
  const below = path.slice(0, ending) + (path[folder] ?? "/");
  for await (const original of listOriginals(tenant, { after: { workstation, path: below } })) {
    if (original.workstation !== workstation || !original.path.startsWith(below)) return;
    yield original;
  }
}

async function* listOriginals(
  tenant: TenantApi,
  query: Pick<OriginalQuery, "sessionId" | "after">,
): AsyncGenerator<Original> {
  let from = query;
  for (;;) {
    const page = await tenant.originals.list({ ...from, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = { ...query, after: { workstation: last.workstation, path: last.path } };
  }
}

async function restoreFile(
  tenant: TenantApi,
  original: Original,
  options: RestoreOptions,
): Promise<RestoredFile> {
  const { size } = original;
  const path = placeOf(original, options);
  if (path === undefined) return { path: original.path, size, outcome: "no_place" };
  try {
    const known = await compare(tenant, original, path);
    if (known === "there" || known === "differs") return { path, size, outcome: known };
    if (options.dryRun) return { path, size, outcome: "would_write" };
    const isWritten = await write(tenant, original, path, known);
    return { path, size, outcome: isWritten ? "written" : "differs" };
  } catch (error) {
    return { path, size, outcome: "failed", problem: problemIn(error) };
  }
}

/** The others are restored nevertheless. Throws what is no problem of one file. */
function problemIn(error: unknown): string {
  const isOfFile = BackscrollError.is(error, "store_corrupt") || codeOf(error) !== undefined;
  if (isOfFile && error instanceof Error) return error.message;
  throw error;
}

/** Of an error of the file system: `EACCES`. */
function codeOf(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : code;
}

/**
 * Where the agent keeps its transcripts and their parts, on this machine or as on the one that they
 * are of; nowhere else, whatever path is stored: whoever may write to the store has chosen it.
 */
function placeOf(
  { path, source }: Original,
  { environment, cwd }: RestoreOptions,
): string | undefined {
  const [name] = source.split(":");
  const reader = SOURCES.find((each) => each.name === name);
  // Of databases nothing is kept, and their folders hold more than transcripts.
  if (reader?.container === "database") return undefined;
  const given = path.replaceAll("\\", "/");
  if (given.split("/").includes("..")) return undefined;
  for (const { root, matches, matchesPart } of reader?.places?.(environment) ?? []) {
    const folder = folderInHome(root, environment.home);
    const at = given.indexOf(folder);
    const below = given.slice(at + folder.length);
    const isOwn = matches(below) || (isPart({ source }) && matchesPart?.(below) === true);
    if (at < 0 || !isOwn) continue;
    const [first = "", ...rest] = below.split("/");
    // Claude Code's folders are named by the project's.
    const isMoved = cwd !== undefined && name === "claude-code" && rest.length > 0;
    return join(root, isMoved ? cwd.replace(/[^A-Za-z0-9]/g, "-") : first, ...rest);
  }
  return undefined;
}

/** `/.claude/projects/`, by which the same folder of another home is known; a whole path elsewhere. */
function folderInHome(root: string, home: string): string {
  const below = relative(home, root);
  const isInHome = !below.startsWith("..") && !isAbsolute(below);
  return `${(isInHome ? `/${below}` : root).replaceAll("\\", "/")}/`;
}

async function compare(
  tenant: TenantApi,
  original: Original,
  path: string,
): Promise<"absent" | "there" | "beginning" | "differs"> {
  const found = await statOf(path);
  if (found === undefined) return "absent";
  // An empty file is the beginning of any.
  if (!found.isFile() || (found.size === 0 && original.size > 0)) return "differs";
  const file = await open(path);
  try {
    let start = 0;
    for await (const kept of readOriginal(tenant, original)) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(kept.length),
        0,
        kept.length,
        start,
      );
      const read = buffer.subarray(0, bytesRead);
      if (!read.equals(kept.subarray(0, bytesRead))) return "differs";
      if (bytesRead < kept.length) return "beginning";
      start += kept.length;
    }
    return "there";
  } finally {
    await file.close();
  }
}

/** Undefined without a file, also where a link leads nowhere. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Beside its place, then moved there: a reader never sees half of it. False if something else has the
 * name by then.
 */
async function write(
  tenant: TenantApi,
  original: Original,
  place: string,
  known: "absent" | "beginning",
): Promise<boolean> {
  // A link stays, and what it leads to is completed.
  const path = known === "absent" ? place : await realpath(place);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${dirname(path)}${sep}.${basename(path)}.${crypto.randomUUID()}.partial`;
  const file = await open(partial, "wx", 0o600);
  try {
    for await (const bytes of readOriginal(tenant, original)) await file.writeFile(bytes);
    await file.sync();
    await file.close();
    if (known === "absent") {
      await link(partial, path);
      return true;
    }
    // Its agent may have gone on writing to it meanwhile.
    if ((await compare(tenant, original, path)) !== "beginning") return false;
    await chmod(partial, (await stat(path)).mode & 0o777);
    await rename(partial, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
  }
}
