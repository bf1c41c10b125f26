/** Writes imported entries in batches, skipping known ones: looks up, plans, appends. */

import { KEPT_IDS } from "../../ingest/batches.ts";
import { isEmpty } from "../../ingest/fields.ts";
import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import { lengthOfBlocks } from "../../model/block.ts";
import { BackscrollError } from "../../model/errors.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import type { AppendRequest, SessionPatch } from "../../store/records.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import type { EngineContext } from "../engine-context.ts";
import { idempotency } from "../idempotency.ts";
import { DistinctEntries, derivedId, findClashes } from "./distinct-entries.ts";
import {
  type Described,
  type Description,
  type ImportOptions,
  type ImportSubject,
  titleOf,
} from "./import-subject.ts";
import { HourTokens } from "./import-usage.ts";
import { ImportedIds, type PendingEntry } from "./imported-id.ts";
import {
  type BatchFindings,
  type BatchPlan,
  type ImportFacts,
  type ImportState,
  type NewSummary,
  planBatch,
  stateAt,
  titleIn,
} from "./plan-batch.ts";
import type { FileOrder } from "./session-files.ts";
import { type Known, NO_COMPARISON, StoredVersions } from "./stored-versions.ts";

/** What is imported, and how. */
export interface ImportTask {
  readonly imported: ImportedSession;
  readonly options: ImportOptions;
  readonly order: FileOrder;
}

/**
 * A batch is buffered in memory and stored in one transaction that blocks other writers: this
 * bounds both.
 */
const BATCH_BYTES = 128 * 1024;
const BATCH_ENTRIES = 128;

/** Reading pauses for the write, so that the source can release a large value. */
const LARGE_BYTES = 256 * 1024;

/** Retries after concurrent writes to the session. */
const TRIES = 5;

const NOTHING: Known = new Map();

export class ImportWriter {
  stored = 0;
  skipped = 0;
  /**
   * Why no more is stored. `late`: a new entry does not follow the leaf, and was refused. `unsure`: a
   * tail repeats ids of earlier lines, which only the whole file tells apart.
   */
  stopped: "late" | "unsure" | undefined;
  readonly #engine: EngineContext;
  readonly #subject: ImportSubject;
  readonly #imported: ImportedSession;
  readonly #options: ImportOptions;
  readonly #order: FileOrder;
  readonly #distinct: DistinctEntries;
  readonly #versions: StoredVersions;
  readonly #hours = new HourTokens();
  /** The text of the last compaction before an entry; absent if there is none. */
  readonly #summaries = new RecentMap<string, string>(KEPT_IDS);
  #ids: ImportedIds;
  #state: ImportState;
  /** The session's summary, as far as we know. */
  #summary: string | null = null;
  /** Others may have stored some of the entries. */
  #looksUp = false;
  #batch: ImportedEntry[] = [];
  #bytes = 0;
  /** A repeated import has the same batches. */
  #batches = 0;
  /** The previous batch, stored while this one is read. */
  #storing: Promise<void> = Promise.resolve();

  constructor(engine: EngineContext, subject: ImportSubject, task: ImportTask) {
    const { imported, options, order } = task;
    this.#engine = engine;
    this.#subject = subject;
    this.#imported = imported;
    this.#options = options;
    this.#order = order;
    this.#ids = new ImportedIds(subject.idKey);
    this.#state = stateAt(null, options.after ?? null, order.rule);
    this.#versions = new StoredVersions(engine, imported.problems);
    this.#distinct = new DistinctEntries(imported.problems);
    if (subject.session !== null) this.#resumeFrom(subject.session);
  }

  /** The last entry read that moves the leaf. */
  get last(): string | null {
    return this.#state.last.id;
  }

  /** A promise if the caller must wait before the next entry. */
  add(given: ImportedEntry): Promise<void> | undefined {
    if (this.stopped !== undefined) return undefined;
    const entry = this.#distinct.take(given);
    if (entry === undefined) return undefined;
    // The entries that a summary covers must be stored before it.
    if (entry.kind === "compaction") return this.#flush().then(() => this.#take(entry));
    return this.#take(entry);
  }

  #take(entry: ImportedEntry): Promise<void> | undefined {
    this.#batch.push(entry);
    this.#bytes += 200 + lengthOfBlocks(entry.blocks);
    const isFull = this.#batch.length === BATCH_ENTRIES || this.#bytes >= BATCH_BYTES;
    return isFull ? this.#flush() : undefined;
  }

  /** Starts to store the batch after the previous one: each continues from its leaf. */
  async #flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const isLarge = this.#bytes >= LARGE_BYTES;
    this.#batch = [];
    this.#bytes = 0;
    await this.#storing;
    this.#storing = this.#store(batch);
    // The rejection is handled where the promise is awaited.
    this.#storing.catch(() => undefined);
    if (isLarge) await this.#storing;
  }

  async #store(entries: readonly ImportedEntry[]): Promise<void> {
    const number = ++this.#batches;
    for (let tries = 1; ; tries++) {
      // Recomputed, because the ids depend on the session's creator.
      const batch = this.#pending(entries);
      const key = this.#keyOf(batch, number);
      // A known entry may be from this same import: check its key first.
      const isAsked = key.idempotency !== undefined && tries === 1;
      const found = await this.#find(batch, this.#looksUp && !isAsked);
      if (found === undefined) {
        this.stopped = "unsure";
        return;
      }
      const plan = planBatch(this.#state, found, this.#facts());
      if (plan === undefined) {
        this.stopped = "late";
        return;
      }
      const stored = await this.#append(plan, key, tries === TRIES);
      if (stored === undefined) continue;
      this.#settle(found.entries, plan, stored);
      return;
    }
  }

  #pending(entries: readonly ImportedEntry[]): PendingEntry[] {
    return entries.map((entry) => ({ entry, id: this.#ids.of(entry.sourceId) }));
  }

  /** The idempotency key of a batch, if any. `number` is its place in the import. */
  #keyOf(batch: readonly PendingEntry[], number: number): Pick<AppendRequest, "idempotency"> {
    const { idempotencyKey, dryRun } = this.#options;
    if (idempotencyKey === undefined || dryRun) return {};
    // Hashed, so that its length is valid for any given key.
    const key = toHex(sha256(Buffer.from(`${idempotencyKey}:${number}`)));
    return idempotency(`import:${key}`, () => ["import", batch.map(({ id }) => id)]);
  }

  /** Undefined if entries of a tail have the ids of others. */
  async #find(
    pending: readonly PendingEntry[],
    looksUp: boolean,
  ): Promise<BatchFindings | undefined> {
    const { after, dryRun } = this.#options;
    let entries = pending;
    let known = looksUp ? await this.#versions.find(this.#ids, entries) : NOTHING;
    const clashes = await findClashes(this.#engine, entries, known);
    if (clashes.size > 0) {
      if (after !== undefined) return undefined;
      // Another file of the session has entries of these ids.
      const own = entries.map(({ entry }) =>
        clashes.has(entry) ? { ...entry, sourceId: derivedId(entry) } : entry,
      );
      entries = this.#pending(own);
      known = await this.#versions.find(this.#ids, entries);
    }
    const isVague = this.#order.newestAt > 0 || clashes.size > 0 || this.#distinct.hasRepeated;
    if (dryRun) return { entries, known, compared: NO_COMPARISON, isVague };
    const size = (this.#subject.session?.entryCount ?? 0) + this.stored;
    const place = { ids: this.#ids, createdAt: this.#createdAt, size };
    return {
      entries,
      known,
      compared: await this.#versions.compare(entries, known, place),
      isVague,
    };
  }

  get #createdAt(): number {
    return this.#imported.startedAt ?? this.#subject.startedAt;
  }

  #facts(): ImportFacts {
    const title = this.#subject.session?.title ?? "";
    return {
      ids: this.#ids,
      rule: this.#order.rule,
      createdAt: this.#createdAt,
      isNamed: title !== "" && title !== titleOf(this.#imported),
      summaryAt: (id) => (id === null ? undefined : this.#summaries.get(id)),
    };
  }

  /** Undefined after a concurrent write: check the batch again. */
  async #append(
    { drafts, summary }: BatchPlan,
    key: Pick<AppendRequest, "idempotency">,
    isLastTry: boolean,
  ): Promise<Appended | undefined> {
    const { store, tenant } = this.#engine;
    const { leaf } = this.#state;
    if (drafts.length === 0 || this.#options.dryRun)
      return { count: drafts.length, leaf, isRepeated: false };
    if (this.#subject.session === null && !(await this.#make())) return undefined;
    const sessionId = this.#subject.session?.id ?? "";
    const summarized = await this.#findThrough(summary);
    try {
      const batch = { sessionId, entries: drafts, expectedLeaf: leaf, isHistory: true };
      const request = { ...batch, ...summarized, ...key, now: this.#engine.now() };
      const result = await store.append(tenant, request);
      this.#summary = summarized.summary?.text ?? this.#summary;
      const { replayed: isRepeated, entries } = result;
      return { count: isRepeated ? entries.length : drafts.length, leaf: result.leaf, isRepeated };
    } catch (error) {
      if (isLastTry) throw error;
      this.#looksUp = true;
      // Annotations do not move the leaf: detect a concurrent import by known entries.
      const ids = drafts.map(({ id }) => id);
      const isStored = async () => (await store.findUsage(tenant, ids)).length > 0;
      if (!BackscrollError.is(error, "stale_leaf") && !(await isStored())) throw error;
      const moved = (await store.findSession(tenant, sessionId))?.leaf ?? null;
      this.#state = { ...this.#state, leaf: moved };
      return undefined;
    }
  }

  /** The session's new summary, with the last entry that it covers. */
  async #findThrough(summary: NewSummary | undefined): Promise<Pick<AppendRequest, "summary">> {
    if (summary === undefined) return {};
    const { text, keptId, parentId } = summary;
    const { store, tenant } = this.#engine;
    const through =
      keptId === undefined
        ? parentId
        : (await store.findEntries(tenant, [keptId], false)).entries[0]?.parentId;
    return typeof through === "string" ? { summary: { text, through } } : {};
  }

  #settle(
    batch: readonly PendingEntry[],
    plan: BatchPlan,
    { count, leaf, isRepeated }: Appended,
  ): void {
    this.#state = { ...(isRepeated ? plan.nextIfRepeated : plan.next), leaf };
    this.stored += count;
    this.skipped += batch.length - count;
    this.#imported.problems.take(plan.problems);
    this.#hours.note(batch, isRepeated ? [] : plan.drafts);
    for (const [id, text] of plan.summaries) this.#summaries.set(id, text);
    for (const entry of plan.met) this.#options.onKnown?.(entry);
  }

  /** `named` is given if the source names a leaf other than the last entry. */
  async finish(named: string | null | undefined): Promise<void> {
    const { dryRun } = this.#options;
    const isDescribed = this.#batches === 0 && !dryRun && (await this.#makeDescribed());
    await this.#flush();
    await this.#storing;
    const { session, isNew } = this.#subject;
    if (session === null || dryRun || this.stopped !== undefined) return;
    const hours = isDescribed ? {} : this.#hours.patch(session.metadata);
    if (this.stored === 0 && !isNew) return this.#update(session, { metadata: hours });
    await this.#moveLeaf(session, named);
    const { leaf, side } = this.#state;
    const summary = (leaf === null ? undefined : this.#summaries.get(leaf)) ?? null;
    const described = isDescribed ? {} : this.#describe(session);
    const files = this.#order.metadata(side === "branch" ? this.last : null);
    await this.#update(session, {
      ...(summary === this.#summary ? {} : { summary }),
      ...described,
      metadata: { ...described.metadata, ...files, ...hours },
    });
  }

  async #moveLeaf(session: Session, named: string | null | undefined): Promise<void> {
    const { side, isContinued, lastAt, ending, leaf } = this.#state;
    const isAside = side === "branch" || isContinued || lastAt < this.#order.newestAt;
    const own = typeof named === "string" ? this.#ids.of(this.#distinct.newest(named)) : named;
    const end = own === undefined && ending === "known" ? (session.leaf ?? undefined) : own;
    const before = isAside ? session.leaf : null;
    const target = before ?? (await this.#versions.newest(this.#ids, end));
    if (isAside) this.#versions.tellAside();
    // A repeated import moves the leaf only if it is still where it was left.
    if (ending === "repeated" && session.leaf !== this.last) return;
    if (target === undefined || target === leaf) return;
    const { store, tenant, now } = this.#engine;
    await store.moveLeaf(tenant, { sessionId: session.id, leaf: target, now: now() });
    this.#state = { ...this.#state, leaf: target };
  }

  async #update({ id }: Session, { metadata = {}, ...fields }: SessionPatch): Promise<void> {
    const patch = { ...fields, ...(isEmpty(metadata) ? {} : { metadata }) };
    const { store, tenant, now } = this.#engine;
    if (!isEmpty(patch)) await store.updateSession(tenant, id, patch, now());
  }

  /** Before the first write: create the session with the fields that the entries give. */
  async #makeDescribed(): Promise<boolean> {
    const { session, described } = this.#subject;
    if (session !== null || described === undefined) return false;
    const title = this.#batch.reduce<string | undefined>(
      (before, entry) => (entry.kind === "session_info" ? titleIn(entry) : undefined) ?? before,
      undefined,
    );
    this.#state = { ...this.#state, title };
    const description = this.#describe(described);
    const metadata = { ...description.metadata, ...HourTokens.sumOf(this.#batch) };
    return this.#make({ ...description, metadata });
  }

  #describe(session: Described): Description {
    const { title } = this.#state;
    return {
      ...(title === undefined ? {} : { title }),
      ...this.#options.describe?.(session, title, this.skipped),
    };
  }

  /** False if another process created the session meanwhile: its entries count as known. */
  async #make(description?: Description): Promise<boolean> {
    const session = await this.#subject.make(description);
    if (this.#subject.isNew) return true;
    this.#ids = new ImportedIds(this.#subject.idKey);
    this.#resumeFrom(session);
    return false;
  }

  #resumeFrom({ leaf, summary }: Session): void {
    this.#looksUp = true;
    this.#state = { ...this.#state, leaf };
    this.#summary = summary;
    if (leaf !== null && summary !== null) this.#summaries.set(leaf, summary);
  }
}

/** The result of a batch. */
interface Appended {
  readonly count: number;
  readonly leaf: string | null;
  /** Stored before by an import under the same key. */
  readonly isRepeated: boolean;
}
