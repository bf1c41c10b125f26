/**
 * The files of a session, and their order.
 *
 * An agent may write one session into several files. Ordered by their first times, each continues
 * the one before. A file that arrives late, or grows after a later one was read, breaks the order:
 * then the session is imported again from all files, unless it was written to here.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { LATE_FILES_KEY, REMOVED_KEY, type Session } from "../../model/session.ts";
import type { EngineContext } from "../engine-context.ts";
import { ImportedIds } from "./imported-id.ts";

export interface SessionFile {
  readonly path: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** The metadata key of the file list, if there are several. */
export const FILES_KEY = "files";

/** The bound of the list; further files are not listed. */
const MAX_FILES = 200;

/** In their order. */
export function filesOf({ metadata, origin, startedAt }: Session): readonly SessionFile[] {
  const listed = metadata[FILES_KEY];
  const files = Array.isArray(listed) ? listed.filter(isSessionFile) : [];
  if (files.length > 0) return files.toSorted(byTime);
  return origin.file === undefined ? [] : [{ path: origin.file, startedAt }];
}

/** Whether another file of the session follows `file`. Copies begin at the same time. */
export function isLateFile(files: readonly SessionFile[], file: SessionFile): boolean {
  const { startedAt } = files.find(({ path }) => path === file.path) ?? file;
  return files.some((other) => other.path !== file.path && other.startedAt > startedAt);
}

/** Whether the session is also in another file. */
export function isShared(files: readonly SessionFile[], file: SessionFile): boolean {
  return files.some(({ path }) => path !== file.path);
}

/** The metadata field that adds the file; undefined if it is known, or the only one. */
export function withFile(files: readonly SessionFile[], file: SessionFile): JsonObject | undefined {
  if (files.some(({ path }) => path === file.path) || files.length === 0) return undefined;
  if (files.length >= MAX_FILES) return undefined;
  return { [FILES_KEY]: [...files, file].toSorted(byTime).map((each) => ({ ...each })) };
}

/** The metadata field that adds a late file with the leaf of its branch. */
export function withLateFile(
  { metadata }: Pick<Session, "metadata">,
  { path }: SessionFile,
  leaf: string,
): JsonObject {
  const listed = metadata[LATE_FILES_KEY];
  const others = Array.isArray(listed)
    ? listed.filter((each) => isPlainObject(each) && each["path"] !== path)
    : [];
  return { [LATE_FILES_KEY]: [...others, { path, leaf }].slice(-MAX_FILES) };
}

/** Whether the session has entries from elsewhere, or lost some. */
export async function isTouched(
  { store, tenant }: EngineContext,
  session: Session,
  idKey: string,
): Promise<boolean> {
  if (session.metadata[REMOVED_KEY] !== undefined) return true;
  if ((await store.listFacts(tenant, session.id, undefined, 1, true)).length > 0) return true;
  const ids = new ImportedIds(idKey);
  const page = { sessionId: session.id, limit: PAGE, payloads: false };
  for (let afterSequence = 0; ; ) {
    const { entries } = await store.readEntries(tenant, { select: "tree", ...page, afterSequence });
    const isOwn = entries.every(
      ({ id, pinned, content, status }) =>
        ids.includes(id) && !pinned && content !== null && status === "committed",
    );
    if (!isOwn) return true;
    const last = entries.at(-1);
    if (last === undefined || entries.length < PAGE) return false;
    afterSequence = last.sequence;
  }
}

const PAGE = 500;

function byTime(a: SessionFile, b: SessionFile): number {
  return a.startedAt - b.startedAt || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

function isSessionFile(value: unknown): value is SessionFile & JsonObject {
  return (
    isPlainObject(value) &&
    typeof value["path"] === "string" &&
    typeof value["startedAt"] === "number"
  );
}
