/**
 * Companion files that a transcript's reader has used, such as long tool outputs: without them a
 * session cannot be derived again. They are originals of their own, by path.
 */

import { mkdir, open, utimes } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { TranscriptFile } from "../../ingest/files/open-file.ts";
import type { FileAccess } from "../../ingest/source.ts";
import type { Original } from "../../store/ingested-file.ts";
import { type Keeping, keepOriginal, readOriginal } from "./originals.ts";

/** A suffix of an original's `source`. No format's name contains it. */
const PART = ":part";

export function isPart({ source }: Pick<Original, "source">): boolean {
  return source.endsWith(PART);
}

/** The existing files that were read, relative to the transcript. */
export class UsedFiles {
  readonly paths: Set<string> = new Set();

  watch(files: FileAccess): FileAccess {
    const note = async <Result>(path: string, read: Promise<Result | undefined>) => {
      const result = await read;
      if (result !== undefined) this.paths.add(path);
      return result;
    };
    return {
      ...files,
      readText: (path, maxBytes) => note(path, files.readText(path, maxBytes)),
      readRecord: (path) => note(path, files.readRecord(path)),
      readBytes: (path, maxBytes) => note(path, files.readBytes(path, maxBytes)),
    };
  }
}

/** `path` is the transcript's, `copy` the location of it and its companions: usually the same. */
export async function keepParts(
  tenant: TenantApi,
  used: UsedFiles,
  { path, copy }: { readonly path: string; readonly copy: string },
  keeping: Omit<Keeping, "unchanged">,
): Promise<void> {
  const { workstation, source, sessionIds } = keeping;
  for (const name of used.paths) {
    const own = join(dirname(path), name);
    let file: TranscriptFile;
    try {
      file = await TranscriptFile.open(join(dirname(copy), name));
    } catch {
      // Deleted since it was read: the parsed entries are stored nevertheless.
      continue;
    }
    try {
      const { size, mtimeUs } = file;
      const [known] = await tenant.originals.list({ workstation, path: own, limit: 1 });
      const isKept = known?.size === size && known.mtimeUs === mtimeUs;
      if (isKept && sessionIds.every((id) => known.sessionIds.includes(id))) continue;
      const kept = { path: own, size, mtimeUs, readRange: file.readRange.bind(file) };
      const facts = { ...keeping, source: `${source}${PART}`, unchanged: 0 };
      if (!(await keepOriginal(tenant, kept, facts))) return;
    } finally {
      await file.close();
    }
  }
}

/** The location of a file's copy in `folder`, with relative paths preserved. */
export function copyPath(folder: string, path: string): string {
  return join(folder, path.slice(parse(path).root.length));
}

/** Writes the kept bytes to the location of `copyPath`. */
export async function writeCopy(
  tenant: TenantApi,
  original: Original,
  folder: string,
): Promise<string> {
  const copy = copyPath(folder, original.path);
  await mkdir(dirname(copy), { recursive: true });
  const handle = await open(copy, "wx", 0o600);
  try {
    for await (const bytes of readOriginal(tenant, original)) await handle.appendFile(bytes);
  } finally {
    await handle.close();
  }
  const seconds = original.mtimeUs / 1e6;
  await utimes(copy, seconds, seconds);
  return copy;
}
