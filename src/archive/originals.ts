/**
 * Keeps the bytes of ingested files: agents delete transcripts after weeks, and an improved reader
 * may find more in them.
 *
 * A file is stored in parts of up to 8 MiB, each a zstd frame. New bytes are merged with the
 * preceding parts that are not longer (the logarithmic method of log-structured indexes). So a file
 * that grows line by line has few parts, and each byte is compressed a number of times logarithmic
 * in its size.
 */

import { mkdir, open, utimes } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib";
import type { TenantApi } from "../engine/interfaces.ts";
import { TranscriptFile } from "../ingest/files/open-file.ts";
import type { FileAccess } from "../ingest/source.ts";
import { BackscrollError } from "../model/errors.ts";
import type { Original, OriginalRange } from "../store/ingested-file.ts";

const PART_BYTES = 8 * 1024 * 1024;

/** A file whose bytes are to be kept. */
interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeUs: number;
  /** The bytes of a range of the file; fewer if the file has become shorter. */
  readRange(start: number, length: number): Promise<Uint8Array>;
}

interface Keeping {
  readonly workstation: string;
  readonly source: string;
  /** The version of the reader. */
  readonly reader: number;
  readonly sessionIds: readonly string[];
  /** Bytes before this are unchanged since the file was last kept; 0 if unknown. */
  readonly unchanged: number;
}

/** Stores the new bytes of a file. False if a session's retention forbids it. */
export async function keepOriginal(
  tenant: TenantApi,
  file: KeptFile,
  { workstation, source, reader, sessionIds, unchanged }: Keeping,
): Promise<boolean> {
  const { path, size, mtimeUs } = file;
  const [known] =
    unchanged === 0 ? [] : await tenant.originals.list({ workstation, path, limit: 1 });
  let start = firstReplaced(known?.parts ?? [], unchanged, size);
  const facts = { path, source, reader, mtimeUs, sessionIds };
  do {
    const bytes = await file.readRange(start, Math.min(PART_BYTES, size - start));
    const part = { start, size: bytes.length, bytes: await compressFrame(bytes) };
    const update = { ...facts, size, from: start, parts: [part] };
    if (!(await tenant.originals.put(workstation, update))) return false;
    if (bytes.length === 0) break;
    start += bytes.length;
  } while (start < size);
  return true;
}

/** The end of the stored parts that stay. */
export function firstReplaced(
  parts: readonly OriginalRange[],
  unchanged: number,
  size: number,
): number {
  const whole: OriginalRange[] = [];
  let end = 0;
  for (const part of parts) {
    if (part.start !== end || part.start + part.size > unchanged) break;
    whole.push(part);
    end += part.size;
  }
  for (let last = whole.pop(); last !== undefined; last = whole.pop()) {
    if (last.size > size - end || size - last.start > PART_BYTES) break;
    end = last.start;
  }
  return end;
}

/** The file, byte for byte. Throws `store_corrupt` if some of it is missing or damaged. */
export async function* readOriginal(
  tenant: TenantApi,
  { workstation, path, size, parts }: Original,
): AsyncGenerator<Uint8Array> {
  let end = 0;
  for (const part of parts) {
    if (part.start !== end) throw damaged(path, end);
    const stored = await tenant.originals.readPart(workstation, path, part.start);
    const bytes = stored === undefined ? undefined : decompressFrame(stored, PART_BYTES);
    if (bytes?.length !== part.size) throw damaged(path, part.start);
    yield bytes;
    end += part.size;
  }
  if (end !== size) throw damaged(path, end);
}

function damaged(path: string, offset: number): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `the kept bytes of ${path} are damaged or incomplete from byte ${offset} on; ingest the file again if it is still there (backscroll ingest --force)`,
    { details: { file: path, offset } },
  );
}

/** A suffix of an original's `source`. No format's name contains it. */
const PART = ":part";

export function isPart({ source }: Pick<Original, "source">): boolean {
  return source.endsWith(PART);
}

/**
 * The existing companion files that a transcript's reader has read, relative to the transcript, such
 * as long tool outputs: without them a session cannot be derived again. They are originals of their
 * own, by path.
 */
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
function copyPath(folder: string, path: string): string {
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

/**
 * On real transcripts level 6 with long-distance matching leaves 10.1 % at 95 MB/s of one core, level
 * 3 without it 11.1 % at 270 MB/s, level 12 9.7 % at 33 MB/s.
 */
const PARAMS = {
  [constants.ZSTD_c_compressionLevel]: 6,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
  [constants.ZSTD_c_checksumFlag]: 1,
};

/** On the thread pool. */
function compressFrame(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    zstdCompress(bytes, { params: PARAMS }, (error, frame) =>
      error ? reject(error) : resolve(frame),
    );
  });
}

/** Undefined if the frame is damaged, or exceeds `maxBytes`. */
function decompressFrame(frame: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    return zstdDecompressSync(frame, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
