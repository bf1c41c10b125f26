/**
 * Extracts facts from a session's messages.
 *
 * Off unless the session's metadata has `facts.enabled`. It reads only messages that no extraction
 * has read, in parts that fit the extractor. Each part's facts are stored with the facts that they
 * supersede, and then the part is marked as read: a later failure keeps finished parts.
 */

import type { FactExtractor } from "../../facts/fact-extractor.ts";
import { modelExtractor } from "../../facts/model-extractor.ts";
import { prepareFacts } from "../../facts/prepare-facts.ts";
import { factRedactionOf } from "../../facts/redact-fact.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import type { Fact } from "../../model/note.ts";
import type { Session } from "../../model/session.ts";
import type { EntryRecord } from "../../store/records.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkKey, invalid } from "../check.ts";
import { findModel } from "../compaction/compact-options.ts";
import type { EngineContext } from "../engine-context.ts";
import {
  checkExtractOptions,
  type ExtractedPart,
  type ExtractFactsOptions,
  type FactPart,
  partsOf,
} from "./extract-facts-options.ts";
import { listHeld, type StoredFacts, storeFacts, withRetirements } from "./store-facts.ts";

/** The new facts, in order of storing. Concurrent calls for one session queue. */
export async function extractFacts(
  engine: EngineContext,
  sessionId: string,
  through: string | undefined,
  options: ExtractFactsOptions,
): Promise<readonly Fact[]> {
  checkExtractOptions(options);
  if (through !== undefined) checkKey(through, "through");
  await findEnabled(engine, sessionId);
  const name = `facts\0${engine.tenant}\0${sessionId}`;
  const { signal } = options;
  const extracting = engine.queue.run(name, async () => {
    checkRunning(signal);
    const session = await findEnabled(engine, sessionId);
    const extractor = toExtractor(engine, session, options);
    const leaf = through ?? session.leaf;
    if (leaf === null) return [];
    const unread = await findUnread(engine, sessionId, leaf, marksOf(session));
    return readParts(engine, session, extractor, unread, options);
  });
  return untilStopped(signal, extracting);
}

async function findEnabled(engine: EngineContext, sessionId: string): Promise<Session> {
  const session = await engine.store.findSession(engine.tenant, checkKey(sessionId, "sessionId"));
  if (session === undefined) throw sessionNotFound(sessionId);
  const { facts } = session.metadata;
  if (isPlainObject(facts) && facts["enabled"] === true) return session;
  throw new BackscrollError(
    "facts_disabled",
    `fact extraction is off for session ${sessionId}; set its metadata to { facts: { enabled: true } }`,
    { details: { sessionId } },
  );
}

function toExtractor(
  engine: EngineContext,
  { metadata }: Session,
  { extractor, model }: ExtractFactsOptions,
): FactExtractor {
  if (extractor !== undefined) return extractor;
  const own = isPlainObject(metadata["facts"]) ? metadata["facts"]["model"] : undefined;
  return modelExtractor(findModel(engine, model ?? (typeof own === "string" ? own : "default")));
}

async function readParts(
  engine: EngineContext,
  session: Session,
  extractor: FactExtractor,
  unread: Unread,
  options: ExtractFactsOptions,
): Promise<readonly Fact[]> {
  let found: readonly Fact[] = [];
  let passed = unread.passed;
  for await (const { entries, ...part } of partsOf(engine, extractor, unread.ids)) {
    checkRunning(options.signal);
    const { facts, retired, ...counts } =
      entries.length === 0 ? NOTHING : await readPart(engine, session, extractor, entries, options);
    await markRead(engine, session.id, passed, part.through);
    passed = [part.through];
    found = [...withRetirements(found, retired), ...facts];
    options.onPart?.({ ...part, ...counts, added: facts.length });
  }
  return found;
}

type ReadPart = StoredFacts & Pick<ExtractedPart, "withheld" | "unread">;

const NOTHING: ReadPart = {
  facts: [],
  retired: [],
  duplicates: 0,
  unsupported: 0,
  withheld: 0,
  unread: 0,
};

async function readPart(
  engine: EngineContext,
  session: Session,
  extractor: FactExtractor,
  entries: FactPart["entries"],
  { redact, signal }: ExtractFactsOptions,
): Promise<ReadPart> {
  const redaction = factRedactionOf(session.metadata);
  const { facts, unread = 0 } = await extractor.extract({
    entries,
    known: await listHeld(engine, session.id),
    omitPersonal: redaction === "personal",
    ...(signal === undefined ? {} : { signal }),
  });
  // Abandons an extractor that ignores the signal.
  checkRunning(signal);
  if (!Array.isArray(facts)) throw invalid("extractor", "extract must give { facts: […] }");
  const prepared = await prepareFacts(facts, entries, { redaction, hook: redact });
  const stored = await storeFacts(engine, session.id, prepared.facts);
  return { ...stored, withheld: prepared.withheld, unread };
}

/** Reads the marks again: another process may have set one. */
async function markRead(
  engine: EngineContext,
  sessionId: string,
  passed: readonly string[],
  through: string,
): Promise<void> {
  const session = await engine.store.findSession(engine.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const marks = withMark(marksOf(session), passed, through);
  const patch = { metadata: { [FACTS_THROUGH]: marks } };
  await engine.store.updateSession(engine.tenant, sessionId, patch, engine.now());
}

/** Rejects at once on abort, also while queued or if the extractor ignores the signal. */
async function untilStopped<Result>(
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(wasStopped(signal));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function checkRunning(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw wasStopped(signal);
}

function wasStopped({ reason }: AbortSignal): BackscrollError {
  return new BackscrollError("model_failed", "the extraction of facts was stopped", {
    details: { kind: "aborted" },
    cause: reason,
  });
}

/**
 * Progress marks of fact extraction, one for each branch.
 *
 * Entries from the root to a mark were read. So on any path the unread rest begins after the last
 * entry shared with a mark's path. Marks are in the session's metadata and name entries, which
 * never move, so branches, edits and restarts do not matter. A lost mark costs another reading;
 * known facts are not added again.
 */

/** The key of the session's metadata: a list of entry ids, the newest last. */
const FACTS_THROUGH = "factsThrough";

/** Marks kept; with more branches the oldest is read again. */
const MAX_MARKS = 20;
const PAGE = 128;

interface Unread {
  /** Unread messages of the path, in order. */
  readonly ids: readonly string[];
  /** Marks on the path to those messages, which a new mark replaces. */
  readonly passed: readonly string[];
}

function marksOf(session: Session): readonly string[] {
  const marks = session.metadata[FACTS_THROUGH];
  return Array.isArray(marks) ? marks.filter((mark) => typeof mark === "string") : [];
}

/** The session's marks after `mark`. */
export function withMark(
  marks: readonly string[],
  passed: readonly string[],
  mark: string,
): string[] {
  const kept = marks.filter((other) => other !== mark && !passed.includes(other));
  return [...kept, mark].slice(-MAX_MARKS);
}

/** Walks back from `leaf` to the last mark: the cost is that of the new entries. */
async function findUnread(
  engine: EngineContext,
  sessionId: string,
  leaf: string,
  marks: readonly string[],
): Promise<Unread> {
  const { entries } = await engine.store.findEntries(engine.tenant, marks, false);
  const branches = entries
    .filter((entry) => entry.sessionId === sessionId)
    .map((entry) => new Walk(engine, sessionId, entry));
  const ids: string[] = [];
  for await (const { id, sequence } of walkBack(engine, sessionId, leaf)) {
    for (const branch of branches) {
      if (await branch.passes(id, sequence)) {
        return { ids: ids.reverse(), passed: branch.mark === id ? [id] : [] };
      }
    }
    ids.push(id);
  }
  return { ids: ids.reverse(), passed: [] };
}

/** The path back from a mark, walked only as far as needed. */
class Walk {
  readonly mark: string;
  readonly #way: AsyncGenerator<EntryRecord>;
  #at: Pick<EntryRecord, "id" | "sequence"> | undefined;

  constructor(engine: EngineContext, sessionId: string, mark: EntryRecord) {
    this.mark = mark.id;
    this.#at = mark;
    this.#way = walkBack(engine, sessionId, mark.id);
  }

  /** Whether this entry is on the path. Callers ask with descending sequences. */
  async passes(id: string, sequence: number): Promise<boolean> {
    while (this.#at !== undefined && this.#at.sequence > sequence) {
      const next = await this.#way.next();
      this.#at = next.done ? undefined : next.value;
    }
    return this.#at?.id === id;
  }
}

/** The messages from `leaf` back to the root. */
async function* walkBack(
  engine: EngineContext,
  sessionId: string,
  leaf: string,
): AsyncGenerator<EntryRecord, undefined> {
  let before: string | undefined;
  for (;;) {
    const page = await engine.store.readEntries(engine.tenant, {
      select: "history",
      sessionId,
      leaf,
      include: "messages",
      limit: PAGE,
      payloads: false,
      ...(before === undefined ? {} : { before }),
    });
    for (const entry of page.entries.toReversed()) yield entry;
    before = page.entries[0]?.id;
    if (page.entries.length < PAGE) return undefined;
  }
}
