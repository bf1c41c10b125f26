/**
 * The files of one memory as records: a file's path is the key, its content the value and the
 * indexed text. Each earlier version of a file is a record in a second namespace.
 */

import type { RecordOperation } from "../../engine/records/record-input.ts";
import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  MAX_PAGE,
  MAX_RECORD_KEY_BYTES,
  MAX_RECORD_OPERATIONS,
  MAX_RECORD_TEXT_BYTES,
} from "../../model/limits.ts";
import type { StoredRecord } from "../../model/record.ts";

export interface MemoryFile {
  readonly path: string;
  readonly content: string;
  readonly version: string;
  readonly updatedAt: number;
}

/** A version of a file before it was changed, renamed or deleted. */
export interface MemoryFileVersion {
  readonly path: string;
  readonly content: string;
  /** When it was written. */
  readonly at: number;
}

/** Retries of a compare-and-swap that lost to a concurrent writer. */
const MAX_TRIES = 20;

export class MemoryFiles {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #history: string;
  readonly #keep: number;

  /** `keep` is the number of earlier versions to keep of each file. */
  constructor(records: RecordsApi, namespace: string, keep: number) {
    this.#records = records;
    this.#namespace = namespace;
    this.#history = `${namespace}/history`;
    this.#keep = keep;
  }

  async find(path: string): Promise<MemoryFile | undefined> {
    const record = path === "" ? undefined : await this.#records.find(this.#namespace, path);
    return record && toFile(record);
  }

  /** Paths and sizes of all files below a folder. */
  async listBelow(
    folder: string,
  ): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
    const prefix = folder === "" ? "" : `${folder}/`;
    const files: { path: string; bytes: number }[] = [];
    const range = { namespace: this.#namespace, prefix };
    for await (const { key, size } of eachRecord(this.#records, range)) {
      // The JSON string without its quotes; escapes make this an upper bound.
      files.push({ path: key, bytes: Math.max(0, size - 2) });
    }
    return files;
  }

  /** False if the file exists. */
  async create(path: string, content: string): Promise<boolean> {
    try {
      await this.#records.write([this.#put(path, content, null)]);
      return true;
    } catch (error) {
      if (BackscrollError.is(error, "record_conflict")) return false;
      throw error;
    }
  }

  /** Replaces the content by the result of `change`. Undefined if the file does not exist. */
  async edit<Result extends { readonly content: string }>(
    path: string,
    change: (content: string) => Result,
  ): Promise<Result | undefined> {
    return this.#again(async () => {
      const file = await this.find(path);
      if (file === undefined) return undefined;
      const result = change(file.content);
      await this.#records.write([
        this.#put(path, result.content, file.version),
        ...(await this.#remember(file)),
      ]);
      return result;
    });
  }

  /** Deletes the file at this path, or all files below it. False if there are none. */
  async delete(path: string): Promise<boolean> {
    return this.#again(async () => {
      const files = await this.#at(path);
      for (const part of this.#parts(files)) {
        const gone = part.map((file) => this.#delete(file));
        const kept = await Promise.all(part.map((file) => this.#remember(file)));
        await this.#records.write([...gone, ...kept.flat()]);
      }
      return files.length > 0;
    });
  }

  /** Moves the file at this path, or all files below it, in one transaction. */
  async rename(from: string, to: string): Promise<"done" | "missing" | "taken"> {
    return this.#again(async () => {
      const files = await this.#at(from);
      if (files.length === 0) return "missing";
      if ((await this.#at(to)).length > 0) return "taken";
      const operations = files.flatMap((file) => [
        this.#delete(file),
        this.#put(to + file.path.slice(from.length), file.content, null),
      ]);
      if (operations.length > MAX_RECORD_OPERATIONS) {
        const most = MAX_RECORD_OPERATIONS / 2;
        throw new Refusal(
          `Error: ${toOuterPath(from)} has more than ${most} files; move its parts`,
        );
      }
      await this.#records.write(operations);
      return "done";
    });
  }

  /** The newest first. */
  async historyOf(path: string): Promise<readonly MemoryFileVersion[]> {
    const page = await this.#records.list({
      namespace: this.#history,
      prefix: `${path}\n`,
      limit: MAX_PAGE,
      values: true,
    });
    return page.records
      .map(({ value }) => value as unknown as { content: string; at: number })
      .map(({ content, at }) => ({ path: toOuterPath(path), content, at }))
      .toReversed();
  }

  async search(query: string, limit: number): Promise<readonly MemoryFile[]> {
    const hits = await this.#records.search(query, { namespace: this.#namespace, limit });
    return hits.map(({ key, text, version, updatedAt }) => ({
      path: toOuterPath(key),
      content: text,
      version,
      updatedAt,
    }));
  }

  /** The file at this path, or those below it. */
  async #at(path: string): Promise<readonly MemoryFile[]> {
    const file = await this.find(path);
    if (file !== undefined) return [file];
    const paths = (await this.listBelow(path)).map((each) => each.path);
    const files: MemoryFile[] = [];
    for (let i = 0; i < paths.length; i += MAX_PAGE) {
      const found = await this.#records.getMany(this.#namespace, paths.slice(i, i + MAX_PAGE));
      files.push(...found.flatMap((record) => (record === undefined ? [] : [toFile(record)])));
    }
    return files;
  }

  #put(path: string, content: string, expectedVersion: string | null): RecordOperation {
    const bytes = new TextEncoder().encode(content).length;
    if (bytes > MAX_RECORD_TEXT_BYTES) {
      const most = MAX_RECORD_TEXT_BYTES / 1_024;
      throw new Refusal(
        `Error: ${toOuterPath(path)} would have ${bytes} bytes; at most ${most} KiB are allowed: split it into several files`,
      );
    }
    const namespace = this.#namespace;
    return { put: { namespace, key: path, value: content, text: content, expectedVersion } };
  }

  #delete({ path, version }: MemoryFile): RecordOperation {
    return { delete: { namespace: this.#namespace, key: path, expectedVersion: version } };
  }

  /**
   * The operations that add the current version to the history and delete the oldest ones beyond
   * the limit.
   */
  async #remember(file: MemoryFile): Promise<RecordOperation[]> {
    if (this.#keep === 0) return [];
    const namespace = this.#history;
    const { path, content, version, updatedAt } = file;
    const key = `${path}\n${String(updatedAt).padStart(15, "0")} ${version}`;
    const known = await this.#records.list({ namespace, prefix: `${path}\n`, limit: MAX_PAGE });
    const old = known.records.slice(0, Math.max(0, known.records.length + 1 - this.#keep));
    return [
      { put: { namespace, key, value: { content, at: updatedAt } } },
      ...old
        .filter((each) => each.key !== key)
        .map((each) => ({ delete: { namespace, key: each.key } })),
    ];
  }

  /** Batches of files that fit into one write together with their versions. */
  #parts(files: readonly MemoryFile[]): MemoryFile[][] {
    const size = 100;
    return Array.from({ length: Math.ceil(files.length / size) }, (_, i) =>
      files.slice(i * size, (i + 1) * size),
    );
  }

  async #again<Result>(change: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await change();
      } catch (error) {
        const met = ["record_conflict", "record_not_found"] as const;
        if (tries === MAX_TRIES || !met.some((code) => BackscrollError.is(error, code)))
          throw error;
      }
    }
  }
}

function toFile({ key, value, version, updatedAt }: StoredRecord): MemoryFile {
  return { path: key, content: String(value), version, updatedAt };
}

// The paths that a model names: below `/memories`, and nowhere else.

const ROOT = "/memories";

/** A record of the history has the path, a line break, a time and a version in its key. */
const MAX_PATH_BYTES = MAX_RECORD_KEY_BYTES - 128;

/** A refused command; its message is the answer to the model. */
export class Refusal extends Error {}

/**
 * The path below `/memories`, without slashes at its ends; empty for the folder itself. Refuses
 * segments that lead out of it, also percent-encoded.
 */
export function toInnerPath(path: unknown): string {
  if (typeof path !== "string") throw new Refusal("Error: path must be a string");
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) {
    throw new Refusal(`Error: The path ${path} must start with ${ROOT}`);
  }
  const inner = path.slice(ROOT.length + 1).replace(/\/$/, "");
  if (inner === "") return "";
  for (const segment of inner.split("/")) {
    if (isUnsafe(segment)) {
      throw new Refusal(`Error: The path ${path} would escape the ${ROOT} directory`);
    }
  }
  if (new TextEncoder().encode(inner).length > MAX_PATH_BYTES) {
    throw new Refusal(`Error: The path is longer than ${MAX_PATH_BYTES} bytes`);
  }
  return inner;
}

export function toOuterPath(inner: string): string {
  return inner === "" ? ROOT : `${ROOT}/${inner}`;
}

function isUnsafe(segment: string): boolean {
  const plain = decoded(segment);
  if (plain === undefined || !segment.isWellFormed()) return true;
  return ["", ".", ".."].includes(plain) || /[\\/\p{Cc}]/u.test(plain);
}

/** Decodes every layer of percent-encoding; undefined if one is malformed. */
function decoded(segment: string): string | undefined {
  let plain = segment;
  for (;;) {
    if (!/%[0-9a-f]{2}/i.test(plain)) return plain;
    try {
      plain = decodeURIComponent(plain);
    } catch {
      return undefined;
    }
  }
}
