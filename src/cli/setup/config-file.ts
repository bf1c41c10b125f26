/**
 * Files of other programs: read, backed up, and replaced atomically by rename.
 *
 * The copy lies beside the file with `COPY_SUFFIX`; `--remove` uses it to restore the file byte for
 * byte.
 */

import { constants } from "node:fs";
import {
  access,
  copyFile,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";

/** Why a configuration cannot be edited; the message becomes part of an error that names the file. */
export class ConfigError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(message: string, text: string, at: number) {
    super(message);
    this.line = lineAt(text, at);
  }
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

export const COPY_SUFFIX = ".before-backscroll";
/** The copy of a file from which `--remove` took a manually changed part. */
export const REMOVED_SUFFIX = ".before-removal";

/** The limit of attempts when the file changes meanwhile. */
const ATTEMPTS = 5;
/** proper-lockfile's threshold for an abandoned lock. */
const STALE_LOCK_MS = 10_000;
const LOCK_PATIENCE_MS = 3_000;
const LOCK_POLL_MS = 50;

/** Undefined if the file does not exist. */
export async function readConfig(file: string): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const reason = cause instanceof TypeError ? "it is not UTF-8 text" : wordsOf(cause);
    throw refused(file, `${file} cannot be read: ${reason}; nothing was written`, cause, {
      reason,
    });
  }
}

/** Runs an edit of `file`'s text; an error names the file and line. */
export function inFile<Result>(file: string, edit: () => Result): Result {
  try {
    return edit();
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const message = `${file}:${cause.line}: ${cause.message}; nothing was written`;
    throw refused(file, message, cause, { line: cause.line });
  }
}

export interface Edited {
  /** The backup; absent if there was no file. */
  readonly copy?: string;
}

/**
 * Replaces the file atomically by the result of `edit`; undefined removes it. Concurrent changes of
 * other programs are not lost. A file that may not be written is left as it was, without a copy.
 */
export async function editConfig(
  file: string,
  edit: (text: string | undefined) => string | undefined,
  options: {
    readonly locks?: boolean;
    /** Suffix of the copy's name; undefined for no copy of this text. */
    readonly copySuffix?: (before: string) => string | undefined;
  } = {},
): Promise<Edited> {
  const { copySuffix = () => COPY_SUFFIX } = options;
  const target = await realTarget(file);
  let release: (() => Promise<void>) | undefined;
  let takeBackCopy: (() => Promise<void>) | undefined;
  try {
    await makeFolder(dirname(target));
    if (options.locks) release = await lock(`${target}.lock`);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await readConfig(file);
      const after = inFile(file, () => edit(before));
      if (after === before) return {};
      // A rename would replace it all the same.
      if (before !== undefined) await access(target, constants.W_OK);
      const suffix = before === undefined ? undefined : copySuffix(before);
      const copy = suffix === undefined ? undefined : `${file}${suffix}`;
      if (copy !== undefined) {
        takeBackCopy ??= await restoring(copy);
        await copyFile(target, copy, constants.COPYFILE_FICLONE);
      }
      if (await replace(file, target, before, after)) return copy === undefined ? {} : { copy };
    }
    const message = `${file} changes all the time; close the program that writes it`;
    throw new BackscrollError("store_busy", message, { details: { file } });
  } catch (cause) {
    await takeBackCopy?.();
    if (!isSystemError(cause)) throw cause;
    const reason = wordsOf(cause);
    throw refused(file, `${file} cannot be written: ${reason}`, cause, { reason });
  } finally {
    await release?.();
  }
}

/** Node's own recursive `mkdir` never ends below `/proc`. */
async function makeFolder(folder: string): Promise<void> {
  const make = () =>
    mkdir(folder).catch((cause) => {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    });
  await make().catch(async (cause) => {
    const above = dirname(folder);
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || above === folder) throw cause;
    await makeFolder(above);
    await make();
  });
}

/** Puts the present file back, or its absence. */
async function restoring(file: string): Promise<() => Promise<void>> {
  const present = await readFile(file).catch((cause) => {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
  });
  const restore = () =>
    present === undefined ? rm(file, { force: true }) : writeFile(file, present);
  return () => restore().catch(() => undefined);
}

/** Why `editConfig` or `readConfig` failed, without the name of the file. */
export function reasonOf(error: unknown): string {
  if (!BackscrollError.is(error)) throw error;
  return String(error.details["reason"] ?? error.message);
}

function isSystemError(cause: unknown): cause is NodeJS.ErrnoException {
  return cause instanceof Error && "syscall" in cause;
}

/** Without the code, the call and the path: `permission denied`. */
function wordsOf(cause: unknown): string {
  return (cause as Error).message.replace(/^E\w+: /, "").replace(/, \w+(?: '.*)?$/s, "");
}

/** False if the file has changed since `before`. */
async function replace(
  file: string,
  target: string,
  before: string | undefined,
  after: string | undefined,
): Promise<boolean> {
  if (after === undefined) {
    if ((await readConfig(file)) !== before) return false;
    await rm(target, { force: true });
    return true;
  }
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    const known = await stat(target).catch(() => undefined);
    // A new file is readable by its owner only: it may hold a token.
    const handle = await open(temporary, "w", 0o600);
    try {
      await handle.writeFile(after);
      if (known !== undefined) {
        await handle.chmod(known.mode & 0o7777);
        await handle.chown(known.uid, known.gid).catch(() => undefined);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readConfig(file)) !== before) return false;
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The target of symbolic links, which is replaced while the links stay. It may be missing. */
async function realTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const link = await readlink(file).catch(() => undefined);
    return link === undefined ? file : resolve(dirname(file), link);
  }
}

/** A folder, as in proper-lockfile. Gives the release function. */
async function lock(folder: string): Promise<() => Promise<void>> {
  const started = Date.now();
  for (;;) {
    try {
      await mkdir(folder);
      return () => rmdir(folder).catch(() => undefined);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") return () => Promise.resolve();
    }
    const held = await stat(folder).catch(() => undefined);
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MS) {
      await rmdir(folder).catch(() => undefined);
    } else if (Date.now() - started > LOCK_PATIENCE_MS) {
      throw new BackscrollError("store_busy", `${folder} is held by the agent; try again`, {
        details: { file: folder },
      });
    } else await pause(LOCK_POLL_MS);
  }
}

/** Not supported by every file system. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(join(folder), "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function refused(file: string, message: string, cause: unknown, more: object): BackscrollError {
  return new BackscrollError("invalid_input", message, {
    details: { field: "file", file, ...more },
    cause,
  });
}
