/**
 * Finds every session that may have a text in the arguments of tool calls, or in results and what
 * users said. Unlike a search it ranks nothing and leaves nothing out.
 *
 * A segment names the messages that have the words of the text, and those that it does not wholly
 * index; the stored text of both is compared. Sessions of the tail are found unread. Where the
 * index cannot tell (a text without plain words, a segment that is damaged or of another version),
 * every session in scope is. One call works for a moment, and the next one continues it.
 */

import { inputTextOf, type ToolUseBlock, textOf } from "../../model/block.ts";
import { inputText, MAX_PARSED_INPUT, outputTexts } from "../document/tool-text.ts";
import { isCurrent } from "../index/add-feed.ts";
import { Blobs, UnreadableSegment } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS, MESSAGE_FIELDS, ROLES } from "../index/layout.ts";
import { documentsOf } from "../index/lists/term-list.ts";
import { SegmentReader } from "../index/segment-reader.ts";
import type { Source } from "../index/source.ts";
import { IS_CUT } from "../index/special-terms.ts";
import { ask, type Manifest, type SansIo, type SegmentInfo, type WindowEntry } from "../port.ts";
import type { Condition } from "../query/query.ts";
import type { TextPlace, TextRequest, TextSessions } from "../request.ts";
import { chunkConditions } from "../score/filter/conditions.ts";
import type { TenantCache } from "../search-cache.ts";
import { runConditions } from "./run-conditions.ts";
import { runFinder, type TextRun } from "./text-run.ts";

/** Milliseconds of one call: other reads wait for it. */
const CALL_MS = 50;
/** Messages whose text is compared at a time. */
const BATCH = 64;
/** Feed rows of the tail per read. */
const SLICE = 256;

export function* findSessions(request: TextRequest, cache: TenantCache): SansIo<TextSessions> {
  const until = cache.clock() + CALL_MS;
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const { scope, after = { position: 0 } } = request;
  const isAll = Object.keys(scope).length === 0;
  const inScope = isAll ? undefined : yield* ask<"scope">({ need: "scope", scope });
  const task = new Task(request, inScope && new Set(inScope), () => cache.clock() > until);
  const conditions = runConditions(request.run, cache.indexing.language);
  if ("session" in after || !canTell(conditions, manifest, cache)) {
    const all = inScope ?? (yield* ask<"scope">({ need: "scope", scope }));
    return yield* task.all(all, "session" in after ? after.session : 0);
  }
  const blobs = new Blobs(cache.cache);
  try {
    const place = yield* task.segments(manifest.segments, after, conditions, blobs);
    if (place.segment !== undefined) return task.answer(place);
    return yield* task.tail(place.position);
  } catch (error) {
    if (!(error instanceof UnreadableSegment)) throw error;
    return { ...task.answer({ session: 0 }), unreadable: [error.segment] };
  } finally {
    blobs.close();
  }
}

function canTell(
  conditions: readonly unknown[],
  { segments }: Manifest,
  { indexing }: TenantCache,
): boolean {
  const areCurrent = segments.every((info) => isCurrent(info, indexing));
  return conditions.length > 0 && indexing.tools === "all" && areCurrent;
}

/** A message of a segment. */
interface Candidate {
  readonly session: number;
  readonly sequence: number;
}

class Task {
  readonly #request: TextRequest;
  readonly #inScope: ReadonlySet<number> | undefined;
  readonly #isLate: () => boolean;
  readonly #mayHave: (entry: Pick<WindowEntry, "role" | "blocks">) => boolean;
  readonly #found = new Map<number, string>();

  constructor(
    request: TextRequest,
    inScope: ReadonlySet<number> | undefined,
    isLate: () => boolean,
  ) {
    this.#request = request;
    this.#inScope = inScope;
    this.#isLate = isLate;
    this.#mayHave = messageTest(request.run);
  }

  answer(next?: TextPlace): TextSessions {
    const sessions = [...this.#found.values()];
    return { sessions, unreadable: [], ...(next === undefined ? {} : { next }) };
  }

  /** Every session from number `from` on. */
  *all(sessions: Uint32Array, from: number): SansIo<TextSessions> {
    const rest = sessions.filter((session) => session >= from);
    for (let at = 0; at < rest.length; at += BATCH) {
      if (at > 0 && this.#isLate()) return this.answer({ session: rest[at] as number });
      yield* this.#name([...rest.subarray(at, at + BATCH)]);
    }
    return this.answer();
  }

  /** The place after the segments, or within one. */
  *segments(
    segments: readonly SegmentInfo[],
    after: Exclude<TextPlace, { readonly session: number }>,
    conditions: readonly (readonly Condition[])[],
    blobs: Blobs,
  ): SansIo<Exclude<TextPlace, { readonly session: number }>> {
    let { position } = after;
    for (const { segment, to } of segments) {
      // A merged segment begins before the place: it is read again.
      if (to <= position) continue;
      const from = segment === after.segment ? after.document : 0;
      const document = yield* this.#segment(segment, from ?? 0, conditions, blobs);
      if (document !== undefined) return { position, segment, document };
      position = to;
    }
    return { position };
  }

  /** The document to continue with; undefined at the end. */
  *#segment(
    segment: number,
    from: number,
    conditions: readonly (readonly Condition[])[],
    blobs: Blobs,
  ): SansIo<number | undefined> {
    const reader = yield* blobs.complete(() => SegmentReader.open(segment, blobs));
    const { slots } = reader as SegmentReader;
    const source: Source = reader as SegmentReader;
    for (let chunk = Math.floor(from / CHUNK_DOCUMENTS); chunk * CHUNK_DOCUMENTS < slots; chunk++) {
      const found = yield* blobs.complete(() =>
        candidatesIn(source, chunk, conditions, this.#request.run.of),
      );
      const documents = (found ?? []).filter((document) => document >= from);
      for (let at = 0; at < documents.length; at += BATCH) {
        if (this.#isLate() && (documents[at] as number) > from) return documents[at];
        const batch = documents.slice(at, at + BATCH);
        const read = yield* blobs.complete(() =>
          batch.map((each) => this.#candidate(source, each)),
        );
        yield* this.#compare(read.filter((each) => each !== undefined));
        blobs.release();
      }
    }
    return undefined;
  }

  /** Sessions that the feed names after `position`. */
  *tail(position: number): SansIo<TextSessions> {
    for (let after = position; ; ) {
      const slice = yield* ask<"feed">({ need: "feed", after, limit: SLICE, whole: [] });
      yield* this.#name(slice.touched);
      if (slice.through >= slice.head || slice.through <= after) return this.answer();
      after = slice.through;
      if (this.#isLate()) return this.answer({ position: after });
    }
  }

  /** Undefined if it is out of scope or known, or a blob is missing. */
  #candidate(source: Source, document: number): Candidate | undefined {
    const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = this.#request;
    const columns = source.columns(Math.floor(document / CHUNK_DOCUMENTS));
    const session = columns?.sessions[document % CHUNK_DOCUMENTS];
    if (session === undefined || !this.#isWanted(session)) return undefined;
    // An agent's text without tools.
    if (columns?.roles[document % CHUNK_DOCUMENTS] === ROLES.indexOf("assistant")) return undefined;
    const facts = source.facts(document);
    if (facts === undefined || facts.time < since || facts.time > until) return undefined;
    return { session, sequence: facts.sequence };
  }

  #isWanted(session: number): boolean {
    return !this.#found.has(session) && this.#inScope?.has(session) !== false;
  }

  *#compare(candidates: readonly Candidate[]): SansIo<void> {
    if (candidates.length === 0) return;
    const windows = yield* ask<"windows">({
      need: "windows",
      windows: candidates.map((each) => ({ ...each, before: 0, after: 0 })),
    });
    for (const [i, { session, sequence }] of candidates.entries()) {
      const entry = windows[i]?.entries.find((each) => each.sequence === sequence);
      const sessionId = windows[i]?.head.sessionId;
      if (sessionId === undefined || this.#found.has(session)) continue;
      if (entry !== undefined && this.#mayHave(entry)) this.#found.set(session, sessionId);
    }
  }

  /** Adds sessions without a look at their messages. */
  *#name(sessions: readonly number[]): SansIo<void> {
    const wanted = sessions.filter((session) => this.#isWanted(session));
    if (wanted.length === 0) return;
    const windows = yield* ask<"windows">({
      need: "windows",
      windows: wanted.map((session) => ({ session, sequence: 0, before: 0, after: 0 })),
    });
    for (const [i, session] of wanted.entries()) {
      const sessionId = windows[i]?.head.sessionId;
      if (sessionId !== undefined) this.#found.set(session, sessionId);
    }
  }
}

/** Messages with the words, and those that are not wholly indexed: ascending. */
function candidatesIn(
  source: Source,
  chunk: number,
  conditions: readonly (readonly Condition[])[],
  of: TextRun["of"],
): number[] | undefined {
  const fields = of === "calls" ? (["message"] as const) : MESSAGE_FIELDS;
  const words = chunkConditions(source, chunk, conditions, [], fields);
  const cut = source.findTerm("message", IS_CUT);
  const cutHere = cut === null ? null : cut?.list(chunk);
  if (words === undefined || cutHere === undefined) return undefined;
  const found = new Set<number>(cutHere === null ? [] : documentsOf(cutHere));
  for (const list of words?.drivers ?? []) {
    for (const document of documentsOf(list)) if (words?.holds(document)) found.add(document);
  }
  return [...found].sort((a, b) => a - b).map((document) => chunk * CHUNK_DOCUMENTS + document);
}

/** True for every message that has the text, as words or within, and for a few others. */
function messageTest({
  text,
  of,
}: TextRun): (entry: Pick<WindowEntry, "role" | "blocks">) => boolean {
  const find = runFinder({ text, wholeWords: false, ignoreCase: true });
  const isIn = (said: string) => find(said) !== undefined;
  const words = text.toLowerCase().match(WORDS) ?? [];
  const hasWords = (said: string) => words.every((word) => said.toLowerCase().includes(word));
  const isInInput = (call: ToolUseBlock) => {
    const input = inputText(call);
    if (isIn(input)) return true;
    // Raw JSON has escapes between words; the words of a command may be a list, quoted or not.
    const isOther = input.length > MAX_PARSED_INPUT || LIST.test(inputTextOf(call));
    return isOther && hasWords(input);
  };
  if (of === "calls") {
    return ({ blocks }) => blocks.some((block) => block.type === "tool_use" && isInInput(block));
  }
  return ({ role, blocks }) =>
    (role === "user" && isIn(textOf(blocks))) ||
    blocks.some((block) => block.type === "tool_result" && isIn(outputTexts(block).join("\n")));
}

/** A list of strings in JSON. */
const LIST = /(?:^|:)\s*\[\s*"/;
const WORDS = /[\p{L}\p{N}]+/gu;
