/**
 * Test double: a minimal index for a store's half of the port.
 *
 * A segment is one blob of JSON, a document is an entry and its words. It flushes, merges, applies
 * deletions and rebuilds missing segments, as the real one does; it ranks nothing. Storage threads
 * and other processes load it by its URL, so it must not import the test runner.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { type Block, textOf } from "../../model/block.ts";
import {
  type Answers,
  ask,
  type DeadSession,
  type ErasedMessages,
  type FeedSlice,
  type MaintenanceReport,
  type MaintenanceTask,
  type Manifest,
  type Need,
  type SansIo,
  type SegmentInfo,
} from "../../search/port.ts";
import type { SearchAnswer, SearchRequest } from "../../search/request.ts";
import type { IndexCode } from "../index/index-code.ts";
import type { StoreIndex } from "../store.ts";

export const TRIVIAL_INDEX: string = import.meta.url;

export interface Document {
  readonly session: number;
  readonly sequence: number;
  readonly words: readonly string[];
}

/** All documents, or the answers to some needs. */
export interface TrivialRequest {
  readonly needs?: readonly Need[];
}

export interface TrivialAnswer {
  readonly documents: readonly Document[];
  /** A segment could not be read. */
  readonly degraded: boolean;
  readonly answers: readonly Answers[keyof Answers][];
  readonly unreadable: readonly number[];
}

/** Points where a maintenance step can be held. */
export type GatePoint = "read" | "written" | "swapped";

export const indexCode: IndexCode = {
  createCache: () => undefined,
  search: (request) =>
    search(request as unknown as TrivialRequest) as unknown as SansIo<SearchAnswer>,
  maintain,
};

/** Runs the trivial search through a store, whose types are those of the real one. */
export async function runTrivial(
  store: StoreIndex,
  tenant: string,
  request: TrivialRequest = {},
): Promise<TrivialAnswer> {
  const answer: unknown = await store.search(tenant, request as unknown as SearchRequest);
  return answer as TrivialAnswer;
}

function* search(request: TrivialRequest): SansIo<TrivialAnswer> {
  const answers: Answers[keyof Answers][] = [];
  for (const need of request.needs ?? []) answers.push(yield need);
  if (request.needs !== undefined)
    return { documents: [], degraded: false, answers, unreadable: [] };
  const first = yield* readAll();
  // A segment may have been deleted since the manifest was read: read the newer one.
  return first.degraded ? yield* readAll() : first;
}

function* readAll(): SansIo<TrivialAnswer> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const tail = yield* readFeed(manifest.through);
  const losses = withLosses(manifest, tail);
  const documents = tail.flatMap(documentsOf);
  let degraded = false;
  for (const info of manifest.segments) {
    const held = yield* readSegment(info);
    if (held === undefined) degraded = true;
    else documents.push(...withoutLost(held, info, losses));
  }
  return { documents, degraded, answers: [], unreadable: [] };
}

function* maintain(task: MaintenanceTask): SansIo<MaintenanceReport> {
  let documents = 0;
  let swapped = true;
  if (task === "maintain" || task === "purge" || typeof task === "object") {
    const repaired = yield* repair(task);
    documents += repaired ?? 0;
    swapped = repaired !== undefined;
  }
  if (swapped && task !== "merge") {
    const flushed = yield* flush();
    documents += flushed ?? 0;
    swapped = flushed !== undefined;
  }
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  if (swapped && (task === "merge" || (task === "maintain" && manifest.segments.length > 3))) {
    const merged = yield* merge();
    documents += merged ?? 0;
    swapped = merged !== undefined;
  }
  const { through } = yield* ask<"manifest">({ need: "manifest" });
  const { head } = yield* ask<"feed">({ need: "feed", after: through, limit: 1 });
  return { busy: !swapped, more: false, through, head, documents };
}

/** The number of documents; undefined if another process swapped first. */
function* flush(): SansIo<number | undefined> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const tail = yield* readFeed(manifest.through);
  const last = tail.at(-1);
  if (last === undefined || last.through === manifest.through) return 0;
  yield* waitAt("read");
  const documents = tail.flatMap(documentsOf);
  const range = { from: manifest.through, to: last.through, builtAt: last.head };
  const info = yield* writeSegment(documents, range);
  const segments = [...manifest.segments, info];
  const losses = withLosses(manifest, tail);
  const swapped = yield* swap(manifest, { ...losses, segments, through: last.through });
  return swapped ? documents.length : undefined;
}

/** Merges all segments. */
function* merge(): SansIo<number | undefined> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  if (manifest.segments.length < 2) return 0;
  const documents: Document[] = [];
  let builtAt = Number.POSITIVE_INFINITY;
  for (const info of manifest.segments) {
    const held = yield* readSegment(info);
    if (held === undefined) return 0;
    documents.push(...withoutLost(held, info, manifest));
    builtAt = Math.min(builtAt, Math.max(info.builtAt, manifest.through));
    yield* ask<"yield">({ need: "yield" });
  }
  yield* waitAt("read");
  const info = yield* writeSegment(documents, { from: 0, to: manifest.through, builtAt });
  const swapped = yield* swap(manifest, { ...manifest, segments: [info] });
  return swapped ? documents.length : undefined;
}

/** Rebuilds unreadable segments; with `rebuild` all, with `purge` those with deleted text. */
function* repair(task: MaintenanceTask): SansIo<number | undefined> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const segments: SegmentInfo[] = [];
  let documents = 0;
  for (const info of manifest.segments) {
    const held = yield* readSegment(info);
    const holdsLost = held?.length !== withoutLost(held ?? [], info, manifest).length;
    if (held !== undefined && typeof task === "string" && !(task === "purge" && holdsLost)) {
      segments.push(info);
      continue;
    }
    const slices = yield* readFeed(info.from, info.to);
    const found = slices.flatMap(documentsOf);
    const builtAt = slices[0]?.head ?? info.builtAt;
    segments.push(yield* writeSegment(found, { from: info.from, to: info.to, builtAt }));
    documents += found.length;
  }
  if (documents === 0 && segments.every((info, i) => info === manifest.segments[i])) return 0;
  return (yield* swap(manifest, { ...manifest, segments })) ? documents : undefined;
}

function* readFeed(after: number, to = Number.POSITIVE_INFINITY): SansIo<FeedSlice[]> {
  const slices: FeedSlice[] = [];
  for (let at = after; ; ) {
    const slice = yield* ask<"feed">({
      need: "feed",
      after: at,
      limit: Math.min(100, to - at),
    });
    if (slice.through === at) return slices;
    slices.push(slice);
    at = slice.through;
    if (at >= Math.min(slice.head, to)) return slices;
    yield* ask<"yield">({ need: "yield" });
  }
}

function* readSegment({ segment }: SegmentInfo): SansIo<Document[] | undefined> {
  const [bytes] = yield* ask<"blobs">({ need: "blobs", keys: [{ segment, blob: 0 }] });
  if (!(bytes instanceof Uint8Array)) return undefined;
  return JSON.parse(Buffer.from(bytes).toString()) as Document[];
}

function* writeSegment(
  documents: readonly Document[],
  range: Pick<SegmentInfo, "from" | "to" | "builtAt">,
): SansIo<SegmentInfo> {
  const segment = Math.floor(Math.random() * 2 ** 50);
  const bytes = Buffer.from(JSON.stringify(documents));
  yield* ask<"write">({ need: "write", segment, blobs: [{ blob: 0, bytes }] });
  const size = { documents: documents.length, bytes: bytes.length, positionBytes: 0 };
  const info = { segment, ...range, ...size, analyzer: "trivial" };
  // Read-your-writes: the real index merges segments that it has just written.
  if ((yield* readSegment(info)) === undefined)
    throw new Error("the written segment cannot be read");
  return info;
}

function* swap(before: Manifest, after: Omit<Manifest, "version">): SansIo<boolean> {
  yield* waitAt("written");
  const isNeeded = ({ position }: { readonly position: number }) =>
    after.segments.some(({ builtAt }) => builtAt < position);
  const [dead, erased] = [after.dead.filter(isNeeded), after.erased.filter(isNeeded)];
  const manifest = { ...after, dead, erased, version: before.version + 1 };
  const swapped = yield* ask<"swap">({ need: "swap", expected: before.version, manifest });
  if (swapped) yield* waitAt("swapped");
  return swapped;
}

function documentsOf(slice: FeedSlice): Document[] {
  return slice.entries.map(({ session, sequence, blocks }) => {
    return { session, sequence, words: wordsOf(blocks) };
  });
}

function wordsOf(blocks: readonly Block[]): string[] {
  return textOf(blocks).split(/\s+/).slice(0, 5);
}

interface Losses {
  readonly dead: readonly DeadSession[];
  readonly erased: readonly ErasedMessages[];
}

function withLosses({ dead, erased }: Losses, tail: readonly FeedSlice[]): Losses {
  return {
    dead: [...dead, ...tail.flatMap((slice) => slice.deleted)],
    erased: [...erased, ...tail.flatMap((slice) => slice.erased)],
  };
}

function withoutLost(
  documents: readonly Document[],
  { builtAt }: SegmentInfo,
  losses: Losses,
): Document[] {
  const dead = losses.dead.filter(({ position }) => position > builtAt);
  const erased = losses.erased.filter(({ position }) => position > builtAt);
  return documents.filter(
    ({ session, sequence }) =>
      !dead.some((each) => each.session === session) &&
      !erased.some(
        (each) => each.session === session && sequence >= each.from && sequence <= each.to,
      ),
  );
}

/**
 * A file, so that threads see it too. It holds the point to wait at; deleting it releases the
 * waiters.
 */
export function gateFile(): string {
  return join(tmpdir(), `backscroll-gate-${process.pid}`);
}

function* waitAt(point: GatePoint): SansIo<void> {
  yield* ask<"yield">({ need: "yield" });
  const gate = gateFile();
  if (!existsSync(gate) || readFileSync(gate, "utf8") !== point) return;
  writeFileSync(`${gate}-reached`, "");
  while (existsSync(gate)) {
    // A worker thread may block, which frees the core.
    if (!isMainThread) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    yield* ask<"yield">({ need: "yield" });
  }
}
