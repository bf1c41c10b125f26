/**
 * The files of a session, and their order.
 *
 * An agent may write one session into several files. Ordered by their first times, each continues
 * the one before. A file that arrives late, or grows after a later one was read, breaks the order:
 * then the session is imported again from all files, unless it was written to here.
 */

import type { LateEntries } from "../../model/inputs/choices.ts";
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

/** How a file stands among those of its stored session: decided once, before its first entry. */
export interface FileOrder {
  /** `anew` is certain. The others hold if the first new entry does not follow the leaf. */
  readonly rule: LateEntries | undefined;
  /** The session's files with this one, in their order. */
  readonly paths: readonly string[];
  /**
   * The last time in the session's other files, in epoch milliseconds; 0 if there are none. A file
   * that ends earlier does not move the leaf.
   */
  readonly newestAt: number;
  /** The session's fields that list the file. `branch` is the end of a late file's branch. */
  readonly metadata: (branch: string | null) => JsonObject;
}

/** `whenLate` is undefined in a dry run. */
export function orderOf(
  found: Session | undefined,
  file: SessionFile | undefined,
  whenLate: LateEntries | undefined,
): FileOrder {
  const files = found === undefined ? [] : filesOf(found);
  const own = files.find(({ path }) => path === file?.path);
  const isListed = file === undefined || own !== undefined || files.length === 0;
  const all = isListed || files.length >= MAX_FILES ? files : [...files, file].toSorted(byTime);
  const others = file === undefined ? [] : files.filter((other) => other !== own);
  // Copies begin at the same time.
  const { startedAt = Number.POSITIVE_INFINITY } = own ?? file ?? {};
  const isLate = others.some((other) => other.startedAt > startedAt);
  return {
    rule: found !== undefined && (isLate || whenLate === "anew") ? whenLate : undefined,
    paths: all.map(({ path }) => path),
    newestAt: others.length > 0 ? (found?.updatedAt ?? 0) : 0,
    metadata: (branch) => ({
      ...(all === files ? {} : { [FILES_KEY]: all.map((each) => ({ ...each })) }),
      ...(branch === null || file === undefined || found === undefined
        ? {}
        : { [LATE_FILES_KEY]: withLateFile(found, file.path, branch) }),
    }),
  };
}

/** Adds a late file with the leaf of its branch. */
function withLateFile({ metadata }: Session, path: string, leaf: string): readonly JsonObject[] {
  const listed = metadata[LATE_FILES_KEY];
  const others = Array.isArray(listed)
    ? listed.filter((each) => isPlainObject(each) && each["path"] !== path)
    : [];
  return [...others, { path, leaf }].slice(-MAX_FILES);
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
