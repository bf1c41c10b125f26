/**
 * Imports a session from a transcript reader.
 *
 * Idempotent: importing a file again changes nothing, and a file that has grown adds its new
 * entries. A session is identified by its origin key, an entry by an id derived from that key and
 * the source's id. Each entry is looked up, as a file may be rewritten anywhere.
 */

import { batched, batchesOf, splitAhead } from "../../ingest/batches.ts";
import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import type { Block } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PATH_BYTES } from "../../model/limits.ts";
import {
  HOUR_CACHE_KEY,
  LATE_FILES_KEY,
  provenanceOf,
  type Session,
  settableOf,
} from "../../model/session.ts";
import { type ForkOrigin, type NewSession, REIMPORT } from "../../store/records.ts";
import { decodeContent } from "../../transcript/content.ts";
import {
  COPIED_PICTURE,
  lineMarkOf,
  type SessionMark,
  sessionMarkOf,
} from "../../transcript/copy-mark.ts";
import { checkInput, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { toName } from "./import-draft.ts";
import {
  findIdKey,
  findKnown,
  type ImportOptions,
  ImportSubject,
  isForgotten,
  isMadeBy,
  originKey,
  toDraft,
  toOrigin,
} from "./import-subject.ts";
import { ImportWriter } from "./import-writer.ts";
import { FILES_KEY, isTouched, orderOf, type SessionFile } from "./session-files.ts";

export interface ImportResult {
  /** Null after a dry run of a new session. */
  readonly sessionId: string | null;
  /** Whether the session is new. */
  readonly created: boolean;
  /** Entries that were stored. */
  readonly entries: number;
  /** Known entries. */
  readonly skipped: number;
  /** The number of problems; the transcript's log has the first of them. */
  readonly problems: number;
  /** The last entry that can be continued; null if there is none. */
  readonly last: string | null;
  /** The session's origin key. */
  readonly key: string;
  /** The session was deleted here and skipped. */
  readonly forgotten: boolean;
  /**
   * Of a file's tail (`after`): it repeats ids of earlier lines, and was not stored to its end. The
   * whole file must be read to tell them apart.
   */
  readonly unsure?: boolean;
  /** Refused by `whenLate`: the session's files, in order. */
  readonly late?: readonly string[];
}

export async function importSession(
  engine: EngineContext,
  imported: ImportedSession,
  options: ImportOptions = {},
): Promise<ImportResult> {
  checkInput(options, "options", INPUTS.importSession);
  checkImported(imported);
  const key = originKey(imported, options);
  const { earlier, metadata } = options;
  const lateFacts = () =>
    options.dryRun ? undefined : { origin: toOrigin(imported, key, options), metadata };
  const [found, forgotten] = await Promise.all([
    findKnown(engine, key, earlier, lateFacts),
    options.skipForgotten ? isForgotten(engine, key, earlier) : false,
  ]);
  const nothing = (sessionId: string | null) => ({
    sessionId,
    created: false,
    entries: 0,
    skipped: 0,
    problems: imported.problems.total,
    last: null,
    key: found?.origin.key ?? key,
    forgotten: false,
  });
  if (found === undefined && forgotten) return { ...nothing(null), forgotten: true };
  // A repository, which anybody may have written to, adds nothing to what is one's own.
  const isOthers = options.provenance === "foreign";
  if (found !== undefined && isOthers && provenanceOf(found) !== "foreign") {
    let skipped = 0;
    for await (const _ of imported.entries) skipped++;
    return { ...nothing(found.id), skipped };
  }
  const mayBeEmpty = found === undefined && options.skipEmpty;
  const entries = mayBeEmpty ? await untilMessage(imported.entries) : imported.entries;
  if (entries === undefined) return nothing(null);
  const copies = ImportedCopies.of(engine, imported);
  const fork = await copies?.findFork();
  const draft = () => ({ ...toDraft(engine, imported, key, options), ...fork });
  const idKeyOf = (session: Session | null) => findIdKey(engine, session, key, earlier);
  const dryRun = options.dryRun ?? false;
  const order = orderOf(found, fileOf(imported, options), dryRun ? undefined : options.whenLate);
  const late = () => ({ ...nothing(found?.id ?? null), late: order.paths });
  let known = found ?? draft();
  if (found !== undefined && order.rule === "anew") {
    if (await isTouched(engine, found, await idKeyOf(found))) return late();
    known = await clear(engine, found, draft());
  }
  const subject = await ImportSubject.of(engine, known, idKeyOf);
  if (found !== undefined && options.idempotencyKey !== undefined) {
    subject.isNew = await isMadeBy(engine, found, draft());
  }
  const writer = new ImportWriter(engine, subject, { imported, options, order });
  let read = 0;
  // One call per batch, so that no entry of the last batch stays referenced while waiting for the
  // next.
  const take = async (batch: Iterable<ImportedEntry>) => {
    for (const entry of batch) {
      // Usually only buffers the entry.
      const storing = writer.add(entry);
      if (storing !== undefined) await storing;
      if (++read % 100 === 0) options.onProgress?.(read);
    }
  };
  for await (const batch of batchesOf(entries))
    await take(copies ? await copies.mark(batch) : batch);
  await writer.finish(imported.leaf?.());
  if (writer.stopped === "late") return late();
  return {
    ...nothing(subject.session?.id ?? null),
    created: subject.isNew,
    entries: writer.stored,
    skipped: writer.skipped,
    last: writer.last,
    key: subject.session?.origin.key ?? key,
    ...(writer.stopped === "unsure" ? { unsure: true } : {}),
  };
}

/** Entries buffered while looking for the first message. */
const MAX_BEFORE_MESSAGE = 2_000;

/** Undefined if no entry is a message. */
async function untilMessage(
  entries: AsyncIterable<ImportedEntry>,
): Promise<AsyncIterable<ImportedEntry> | undefined> {
  let isThere = false;
  const { ahead, rest } = await splitAhead(entries, (read) => {
    const last = read.at(-1);
    isThere ||= last !== undefined && kindRules(last.kind).counted;
    isThere ||= read.length >= MAX_BEFORE_MESSAGE;
    return isThere;
  });
  if (!isThere) return undefined;
  async function* all(): AsyncGenerator<Iterable<ImportedEntry>> {
    yield ahead;
    yield* rest;
  }
  return batched(all());
}

/** Undefined without a file or a start time. */
function fileOf({ startedAt }: ImportedSession, { file }: ImportOptions): SessionFile | undefined {
  const path = file === undefined ? null : toName(file, MAX_PATH_BYTES);
  return path === null || startedAt === null ? undefined : { path, startedAt };
}

/** Deletes a session for re-import, and gives its id and the fields set here. */
async function clear(
  engine: EngineContext,
  session: Session,
  draft: NewSession,
): Promise<NewSession> {
  const { participants: _, ...set } = settableOf(session);
  const { [FILES_KEY]: _files, [LATE_FILES_KEY]: _late, ...kept } = session.metadata;
  const { [HOUR_CACHE_KEY]: _counted, ...metadata } = kept;
  await engine.store.deleteSession(engine.tenant, session.id, REIMPORT, engine.now(), engine.by);
  return {
    ...draft,
    ...set,
    id: session.id,
    metadata: { ...draft.metadata, ...metadata },
  };
}

function checkImported(imported: ImportedSession | null | undefined): void {
  const isIterable = typeof imported?.entries?.[Symbol.asyncIterator] === "function";
  if (isIterable && imported.problems !== undefined) return;
  throw invalid("imported", "imported must be a session as readTranscript gives it");
}

/**
 * Entries of a file that was exported from our own session: copies, as in a fork.
 *
 * The file claims this itself, and files are untrusted: a line counts as a copy of an entry unless
 * that entry is stored here with other content. A missing entry may still arrive, because files are
 * read in any order.
 */

const ENTRY_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Agents that keep the marks of messages, but not always those of the session. */
const MARKED_MESSAGES: readonly string[] = ["opencode", "gemini-cli"];

class ImportedCopies {
  readonly #engine: EngineContext;
  readonly #mark: SessionMark | undefined;

  private constructor(engine: EngineContext, mark: SessionMark | undefined) {
    this.#engine = engine;
    this.#mark = mark;
  }

  /** Undefined for a file without the mark. */
  static of(
    engine: EngineContext,
    session: Pick<ImportedSession, "metadata" | "source">,
  ): ImportedCopies | undefined {
    const mark = sessionMarkOf(session);
    const isMarked = mark !== undefined || MARKED_MESSAGES.includes(session.source);
    return isMarked ? new ImportedCopies(engine, mark) : undefined;
  }

  /** The entry where the session forks off, if it is here. */
  async findFork(): Promise<{ readonly fork: ForkOrigin } | undefined> {
    const { store, tenant } = this.#engine;
    const through = this.#mark?.through ?? "";
    if (!ENTRY_ID.test(through)) return undefined;
    const [point] = (await store.findEntries(tenant, [through], false)).entries;
    if (point === undefined || point.hash === null || point.status !== "committed")
      return undefined;
    if (!kindRules(point.kind).movesLeaf) return undefined;
    return {
      fork: {
        parentSessionId: point.sessionId,
        forkPoint: point.id,
        rootHash: new Uint8Array(Buffer.from(point.hash, "hex")),
      },
    };
  }

  async mark(batch: Iterable<ImportedEntry>): Promise<ImportedEntry[]> {
    const entries = [...batch];
    const ids = entries.flatMap((entry) => lineMarkOf(entry)?.entry ?? []);
    const known = new Set(ids.filter((id) => ENTRY_ID.test(id)));
    const said = await this.#said([...known]);
    return entries.map((entry) => {
      const mark = lineMarkOf(entry);
      if (mark === undefined || entry.kind !== "message") return entry;
      const { entry: id, injected } = mark;
      const marked = injected
        ? { ...entry, metadata: { ...entry.metadata, injected: true } }
        : entry;
      if (id === undefined || !known.has(id)) return marked;
      const original = said.get(id);
      const isSame =
        injected || original === undefined || textsOf(entry.blocks).every((t) => original.has(t));
      return isSame ? { ...marked, copiedFrom: id } : entry;
    });
  }

  /** The content of known entries, except erased ones. */
  async #said(ids: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    if (ids.length === 0) return new Map();
    const { store, tenant } = this.#engine;
    const found = await store.findEntries(tenant, ids, true);
    return new Map(
      found.entries.flatMap(({ id, content }) => {
        if (content === null) return [];
        const { blocks } = decodeContent(content, (hash) => found.payloads.get(hash));
        return [[id, new Set(textsOf(blocks))] as const];
      }),
    );
  }
}

/** Texts and outputs; arguments may be serialised differently. */
function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type !== "tool_result") return [];
    const { output } = block;
    if (typeof output === "string") return [output];
    const texts = textsOf(output);
    const shown = output.map((inner) => (inner.type === "text" ? inner.text : COPIED_PICTURE));
    return [...texts, texts.join("\n"), shown.join("\n")];
  });
}
