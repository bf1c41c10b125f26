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
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkKey, invalid } from "../check.ts";
import { findModel } from "../compaction/compact-options.ts";
import type { EngineContext } from "../engine-context.ts";
import {
  checkExtractOptions,
  type ExtractedPart,
  type ExtractFactsOptions,
} from "./extract-facts-options.ts";
import { FACTS_THROUGH, findUnread, marksOf, type Unread, withMark } from "./fact-marks.ts";
import { type FactPart, partsOf } from "./fact-parts.ts";
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
