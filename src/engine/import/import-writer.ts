/** Writes imported entries in batches, skipping known ones. */

import { isEmpty } from "../../ingest/fields.ts";
import { KEPT_IDS } from "../../ingest/kept-counts.ts";
import { ProblemLog } from "../../ingest/problems.ts";
import { type ImportedEntry, UNREADABLE_SUMMARY } from "../../ingest/source.ts";
import { textOf } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_SUMMARY_BYTES } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import type { AppendRequest, EntryUsage, NewEntry } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { AnswerUsage } from "./answer-usage.ts";
import type { Described, Description } from "./describe-session.ts";
import { DistinctEntries, derivedId, findClashes } from "./distinct-entries.ts";
import { HourTokens } from "./hour-tokens.ts";
import { draftImported, toText } from "./import-draft.ts";
import { ImportEdits } from "./import-edits.ts";
import {
  type Appended,
  BATCH_BYTES,
  BATCH_ENTRIES,
  type ImportSetting,
  keyOfBatch,
  LARGE_BYTES,
  type ReadOfBatch,
  type Waiting,
} from "./import-setting.ts";
import type { ImportSubject } from "./import-subject.ts";
import { noteStored, sizeOf, titleOf, withOwnUsage } from "./imported-entry.ts";
import { ImportedIds } from "./imported-id.ts";
import { newSummary } from "./new-summary.ts";

const NO_APPEND: Appended = { stored: 0, isRepeated: false };
type Known = ReadonlyMap<string, EntryUsage>;
const NOTHING: Known = new Map();

/** Retries after concurrent writes to the session. */
const TRIES = 5;

export class ImportWriter {
  stored = 0;
  skipped = 0;
  /** A new entry did not follow the leaf and was refused; no more entries are stored. */
  isLate = false;
  /** A tail repeats ids of earlier lines: only the whole file tells them apart. Stores no more. */
  isUnsure = false;
  readonly #engine: EngineContext;
  readonly #subject: ImportSubject;
  readonly #setting: ImportSetting;
  #ids: ImportedIds;
  #batch: ImportedEntry[] = [];
  readonly #distinct: DistinctEntries;
  #bytes = 0;
  /** The previous batch, stored while this one is read. */
  #storing: Promise<void> = Promise.resolve();
  #looksUp = false;
  /** The number of batches: a repeated import has the same ones. */
  #batches = 0;
  /** The session's leaf, as far as we know. */
  #leaf: string | null = null;
  #answers = new AnswerUsage();
  readonly #hours = new HourTokens();
  /** The last entry of the file before the batch that moves the leaf. */
  #lastNode: string | null;
  /** The file is a tree and ends with a known entry: its new entries are a branch. */
  #endsAsBefore = false;
  /** The same import stored its end before: differences are later edits. */
  #endsRepeated = false;
  #title: string | undefined;
  /** The compaction before each entry; absent if none. */
  readonly #summaries = new RecentMap<string, string>(KEPT_IDS);
  /** The current batch's title and summaries; they count once it is stored. */
  #read: ReadOfBatch = { title: undefined, summaries: new Map() };
  /** The session's summary, as far as we know. */
  #summary: string | null = null;
  /** Some entries are stored or in flight. */
  #hasBegun = false;
  /** The session was created with its description. */
  #isDescribed = false;
  #isJudged = false;
  #lastAt = Number.POSITIVE_INFINITY;
  readonly #edits: ImportEdits;
  /** New entries become a branch; the leaf stays. */
  #isAside = false;

  constructor(engine: EngineContext, subject: ImportSubject, setting: ImportSetting) {
    this.#engine = engine;
    this.#subject = subject;
    this.#setting = setting;
    this.#ids = new ImportedIds(subject.idKey);
    this.#lastNode = setting.after;
    this.#edits = new ImportEdits(engine, setting.problems);
    this.#distinct = new DistinctEntries(setting.problems);
    if (subject.session !== null) this.#goOnFrom(subject.session);
  }

  /** A promise if the caller must wait before the next entry. */
  add(given: ImportedEntry): Promise<void> | undefined {
    if (this.isLate || this.isUnsure) return undefined;
    const entry = this.#distinct.take(given);
    if (entry === undefined) return undefined;
    // The entries that a summary covers must be stored before it.
    if (entry.kind === "compaction") return this.#flush().then(() => this.#take(entry));
    return this.#take(entry);
  }

  #take(entry: ImportedEntry): Promise<void> | undefined {
    this.#batch.push(entry);
    this.#bytes += sizeOf(entry);
    const isFull = this.#batch.length === BATCH_ENTRIES || this.#bytes >= BATCH_BYTES;
    return isFull ? this.#flush() : undefined;
  }

  /** `leaf` is given if the source names a leaf other than the last entry. */
  async finish(leaf: string | null | undefined): Promise<void> {
    if (!this.#hasBegun && !this.#setting.dryRun) await this.#makeDescribed();
    const leafBefore = this.#subject.session?.leaf;
    await this.#flush();
    await this.#storing;
    const { session, isNew } = this.#subject;
    if (session === null || this.#setting.dryRun || this.isLate || this.isUnsure) return;
    const { id: sessionId } = session;
    const edited = await this.#edits.write(sessionId, this.#leaf);
    const isEdited = edited.leaf !== this.#leaf;
    this.#leaf = edited.leaf;
    this.stored += edited.stored;
    const { store, tenant } = this.#engine;
    const now = this.#engine.now();
    const hours = this.#isDescribed ? {} : this.#hours.patch(session.metadata);
    if (this.stored === 0 && !isNew) {
      if (!isEmpty(hours)) await store.updateSession(tenant, sessionId, { metadata: hours }, now);
      return;
    }
    const before = this.#endsAsBefore ? (session.leaf ?? undefined) : undefined;
    const aside = this.#isAside || this.#lastAt < this.#setting.newestAt ? leafBefore : undefined;
    const target = isEdited ? undefined : (aside ?? this.#leafOf(leaf, before));
    // A repeated import moves the leaf only if it is still where it was left.
    const isMoved = this.#endsRepeated && session.leaf !== this.#lastNode;
    if (target !== undefined && target !== this.#leaf && !isMoved) {
      await store.moveLeaf(tenant, { sessionId, leaf: target, now });
      this.#leaf = target;
    }
    const summary = this.#leaf === null ? null : (this.#summaries.get(this.#leaf) ?? null);
    const described = this.#isDescribed ? {} : this.#describe(session);
    const files = this.#setting.files(this.#isAside ? this.#lastNode : null);
    const metadata = { ...described.metadata, ...files, ...hours };
    const patch = {
      ...(summary === this.#summary ? {} : { summary }),
      ...described,
      ...(isEmpty(metadata) ? {} : { metadata }),
    };
    if (!isEmpty(patch)) await store.updateSession(tenant, sessionId, patch, now);
  }

  #leafOf(leaf: string | null | undefined, before: string | undefined): string | null | undefined {
    if (typeof leaf === "string") return this.#ids.of(this.#distinct.newest(leaf));
    return leaf === null ? null : before;
  }

  /** The last entry read that moves the leaf. */
  get last(): string | null {
    return this.#lastNode;
  }

  /** Before the first write: create the session with the fields that the entries give. */
  async #makeDescribed(): Promise<void> {
    const { session, described } = this.#subject;
    if (session !== null || described === undefined) return;
    for (const entry of this.#batch) {
      if (entry.kind === "session_info") this.#title = titleOf(entry) ?? this.#title;
    }
    const description = this.#describe(described);
    const metadata = { ...description.metadata, ...HourTokens.sumOf(this.#batch) };
    this.#isDescribed = await this.#make({ ...description, metadata });
  }

  /** False if another process created the session meanwhile: its entries count as known. */
  async #make(description?: Description): Promise<boolean> {
    const session = await this.#subject.make(description);
    if (this.#subject.isNew) return true;
    this.#ids = new ImportedIds(this.#subject.idKey);
    this.#goOnFrom(session);
    return false;
  }

  #goOnFrom({ leaf, summary }: Session): void {
    this.#looksUp = true;
    this.#leaf = leaf;
    this.#summary = summary;
    if (leaf !== null && summary !== null) this.#summaries.set(leaf, summary);
  }

  #describe(session: Described): Description {
    return {
      ...(this.#title === undefined ? {} : { title: this.#title }),
      ...this.#setting.describe?.(session, this.#title, this.skipped),
    };
  }

  /** Starts to store the batch after the previous one: each continues from its leaf. */
  async #flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    const isLarge = this.#bytes >= LARGE_BYTES;
    this.#hasBegun = true;
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
      let batch = this.#waiting(entries);
      const key = keyOfBatch(this.#setting, batch, number);
      // A known entry may be from this same import: check its key first.
      const isAsked = key.idempotency !== undefined && tries === 1;
      let known = isAsked ? NOTHING : await this.#findStored(batch);
      const clashes = await findClashes(this.#engine, batch, known);
      if (clashes.size > 0) {
        this.isUnsure = this.#setting.after !== null;
        if (this.isUnsure) return;
        // Another file of the session has entries of these ids.
        batch = this.#waiting(
          entries.map((entry) =>
            clashes.has(entry) ? { ...entry, sourceId: derivedId(entry) } : entry,
          ),
        );
        known = await this.#findStored(batch);
      }
      const answers = new AnswerUsage(this.#answers);
      const problems = new ProblemLog();
      this.#read = { title: undefined, summaries: new Map() };
      const drafts = this.#draft(batch, known, answers, problems);
      if (this.isLate) return;
      await this.#noteEdits(batch, known);
      const done = drafts.length === 0 ? NO_APPEND : await this.#append(drafts, batch, tries, key);
      if (done === undefined) continue;
      const { stored, isRepeated } = done;
      this.#setting.problems.take(problems);
      this.stored += stored;
      this.skipped += batch.length - stored;
      this.#answers = answers;
      this.#hours.note(batch, isRepeated ? [] : drafts);
      if (!isRepeated || !this.#isNamed()) this.#title = this.#read.title ?? this.#title;
      for (const [id, summary] of this.#read.summaries) this.#summaries.set(id, summary);
      for (const { entry, id } of batch) {
        if (known.has(id)) this.#setting.onKnown?.(entry);
        if (!kindRules(entry.kind).movesLeaf) continue;
        this.#lastNode = id;
        this.#lastAt = entry.createdAt ?? Number.POSITIVE_INFINITY;
        this.#endsAsBefore = known.has(id) && entry.parentSourceId !== undefined;
        this.#endsRepeated = isRepeated;
      }
      return;
    }
  }

  /** Known entries whose content has changed. */
  async #noteEdits(batch: readonly Waiting[], known: Known): Promise<void> {
    if (known.size === 0 || this.#setting.dryRun) return;
    const stored = batch.filter(({ id }) => known.has(id));
    await this.#edits.note(stored, this.#ids, this.#setting.startedAt ?? this.#subject.startedAt);
  }

  #waiting(entries: readonly ImportedEntry[]): Waiting[] {
    return entries.map((entry) => ({ entry, id: this.#ids.of(entry.sourceId) }));
  }

  /** The stored entries of the batch by their ids. */
  async #findStored(batch: readonly Waiting[]): Promise<Known> {
    if (!this.#looksUp) return NOTHING;
    const { store, tenant } = this.#engine;
    const ids = batch.map(({ id }) => id);
    const found = await store.findUsage(tenant, ids);
    return new Map(found.map((stored) => [stored.id, stored]));
  }

  #draft(
    batch: readonly Waiting[],
    known: Known,
    answers: AnswerUsage,
    problems: ProblemLog,
  ): NewEntry[] {
    const { startedAt } = this.#setting;
    const createdAt = startedAt ?? this.#subject.startedAt;
    const idOf = (sourceId: string) => this.#ids.of(sourceId);
    const drafts: NewEntry[] = [];
    let leaf = this.#leaf;
    let lastNode = this.#lastNode;
    for (const { entry: read, id } of batch) {
      const isNew = !known.has(id);
      const entry = isNew ? withOwnUsage(read, answers) : read;
      if (!isNew) noteStored(read, known.get(id)?.usage ?? null, answers);
      // A file without a tree continues from the stored leaf, or from the file's last entry if the
      // session was continued here.
      const goesOn = isNew && leaf !== null && this.#ids.includes(leaf) && !this.#isAside;
      const tip = goesOn ? leaf : lastNode;
      const { parentSourceId: source } = entry;
      let parentId = source === undefined ? tip : source === null ? null : idOf(source);
      if (isNew && kindRules(entry.kind).movesLeaf && this.#judgesLate()) {
        // An entry whose parent is the leaf continues it, even if the session has other branches.
        const isNext = source !== undefined && parentId === this.#leaf;
        if (!isNext && this.#setting.whenLate === "refuse") {
          this.isLate = true;
          return [];
        }
        this.#isAside = !isNext;
        if (this.#isAside && source === undefined) parentId = lastNode;
      }
      if (isNew) {
        const place = { id, createdAt, idOf, problems };
        // Fast path: most entries follow the previous one.
        drafts.push(draftImported(entry, parentId === leaf ? place : { ...place, parentId }));
      }
      if (isNew && entry.kind === "session_info") {
        this.#read.title = titleOf(entry) ?? this.#read.title;
      }
      if (!kindRules(entry.kind).movesLeaf) continue;
      if (isNew) leaf = id;
      lastNode = id;
      this.#noteSummary(entry, id, parentId);
    }
    return drafts;
  }

  /** Evaluated once, at the first new entry. */
  #judgesLate(): boolean {
    if (this.#setting.whenLate === undefined || this.#isJudged) return false;
    this.#isJudged = true;
    return true;
  }

  /** A user, or an earlier attempt of this import, has set a title. */
  #isNamed(): boolean {
    const title = this.#subject.session?.title ?? "";
    return title !== "" && title !== this.#setting.title;
  }

  /** Undefined after a concurrent write: check the batch again. */
  async #append(
    drafts: readonly NewEntry[],
    batch: readonly Waiting[],
    tries: number,
    key: Pick<AppendRequest, "idempotency">,
  ): Promise<Appended | undefined> {
    const { store, tenant } = this.#engine;
    if (this.#setting.dryRun) return { stored: drafts.length, isRepeated: false };
    if (this.#subject.session === null && !(await this.#make())) return undefined;
    const sessionId = this.#subject.session?.id ?? "";
    const summary = await newSummary(this.#engine, this.#ids, this.#leaf, {
      draft: drafts[0],
      first: batch[0],
      textAt: (id) => this.#summaryAt(id),
    });
    try {
      const draft = { sessionId, entries: drafts, expectedLeaf: this.#leaf, isHistory: true };
      const request = { ...draft, ...summary, ...key, now: this.#engine.now() };
      const result = await store.append(tenant, request);
      this.#leaf = result.leaf;
      this.#summary = summary.summary?.text ?? this.#summary;
      const { replayed: isRepeated, entries } = result;
      return { stored: isRepeated ? entries.length : drafts.length, isRepeated };
    } catch (error) {
      if (tries === TRIES) throw error;
      this.#looksUp = true;
      // Annotations do not move the leaf: detect a concurrent import by known entries.
      const isLate = async () => {
        const known = await this.#findStored(batch);
        return drafts.some(({ id }) => known.has(id));
      };
      if (!BackscrollError.is(error, "stale_leaf") && !(await isLate())) throw error;
      this.#leaf = (await store.findSession(tenant, sessionId))?.leaf ?? null;
      return undefined;
    }
  }

  #noteSummary(entry: ImportedEntry, id: string, parentId: string | null): void {
    const summary =
      entry.kind === "compaction" && entry.data?.[UNREADABLE_SUMMARY] !== true
        ? toText(textOf(entry.blocks), MAX_SUMMARY_BYTES)
        : this.#summaryAt(parentId ?? "");
    if (summary !== undefined) this.#read.summaries.set(id, summary);
  }

  #summaryAt(id: string): string | undefined {
    return this.#read.summaries.get(id) ?? this.#summaries.get(id);
  }
}
