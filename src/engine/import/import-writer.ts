/** Writes imported entries in batches, skipping known ones. */

import { isEmpty } from "../../ingest/fields.ts";
import { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import type { AppendRequest, NewEntry } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { AnswerUsage } from "./answer-usage.ts";
import { BatchPlaces, type Place, ROOT } from "./batch-places.ts";
import type { Described, Description } from "./describe-session.ts";
import { DistinctEntries, derivedId, findClashes } from "./distinct-entries.ts";
import { HourTokens } from "./hour-tokens.ts";
import { draftImported } from "./import-draft.ts";
import {
  type Appended,
  BATCH_BYTES,
  BATCH_ENTRIES,
  type ImportSetting,
  keyOfBatch,
  LARGE_BYTES,
  type Waiting,
} from "./import-setting.ts";
import type { ImportSubject } from "./import-subject.ts";
import { ImportSummaries } from "./import-summaries.ts";
import { noteStored, sizeOf, titleOf, usageBeyond, withOwnUsage } from "./imported-entry.ts";
import { ImportedIds } from "./imported-id.ts";
import { type Comparison, type Known, NO_COMPARISON, StoredVersions } from "./stored-versions.ts";

const NO_APPEND: Appended = { stored: 0, isRepeated: false };
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
  /** The place of the last entry of the file before the batch that moves the leaf. */
  #last: Place;
  /** The file is a tree and ends with a known entry: its new entries are a branch. */
  #endsAsBefore = false;
  /** The same import stored its end before: differences are later edits. */
  #endsRepeated = false;
  #title: string | undefined;
  /** The current batch's title; it counts once it is stored. */
  #titleRead: string | undefined;
  readonly #summaries = new ImportSummaries();
  /** The session's summary, as far as we know. */
  #summary: string | null = null;
  /** Some entries are stored or in flight. */
  #hasBegun = false;
  /** The session was created with its description. */
  #isDescribed = false;
  #isJudged = false;
  #lastAt = Number.POSITIVE_INFINITY;
  /** New entries become a branch; the leaf stays. */
  #isAside = false;
  /** New versions were stored while the leaf was at a message that was appended here. */
  #isContinued = false;
  readonly #versions: StoredVersions;

  constructor(engine: EngineContext, subject: ImportSubject, setting: ImportSetting) {
    this.#engine = engine;
    this.#subject = subject;
    this.#setting = setting;
    this.#ids = new ImportedIds(subject.idKey);
    this.#last = { ...ROOT, id: setting.after };
    this.#versions = new StoredVersions(engine, setting.problems);
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
    const { store, tenant } = this.#engine;
    const now = this.#engine.now();
    const hours = this.#isDescribed ? {} : this.#hours.patch(session.metadata);
    if (this.stored === 0 && !isNew) {
      if (!isEmpty(hours)) await store.updateSession(tenant, sessionId, { metadata: hours }, now);
      return;
    }
    const isAside = this.#isAside || this.#isContinued || this.#lastAt < this.#setting.newestAt;
    const named = typeof leaf === "string" ? this.#ids.of(this.#distinct.newest(leaf)) : leaf;
    const own = named === undefined && this.#endsAsBefore ? (session.leaf ?? undefined) : named;
    const target =
      (isAside ? leafBefore : undefined) ?? (await this.#versions.newest(this.#ids, own));
    if (isAside) this.#versions.tellAside();
    // A repeated import moves the leaf only if it is still where it was left.
    const isMoved = this.#endsRepeated && session.leaf !== this.last;
    if (target !== undefined && target !== this.#leaf && !isMoved) {
      await store.moveLeaf(tenant, { sessionId, leaf: target, now });
      this.#leaf = target;
    }
    const summary = this.#summaries.at(this.#leaf) ?? null;
    const described = this.#isDescribed ? {} : this.#describe(session);
    const files = this.#setting.files(this.#isAside ? this.last : null);
    const metadata = { ...described.metadata, ...files, ...hours };
    const patch = {
      ...(summary === this.#summary ? {} : { summary }),
      ...described,
      ...(isEmpty(metadata) ? {} : { metadata }),
    };
    if (!isEmpty(patch)) await store.updateSession(tenant, sessionId, patch, now);
  }

  /** The last entry read that moves the leaf. */
  get last(): string | null {
    return this.#last.id;
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
      let known = isAsked || !this.#looksUp ? NOTHING : await this.#versions.find(this.#ids, batch);
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
        known = await this.#versions.find(this.#ids, batch);
      }
      const answers = new AnswerUsage(this.#answers);
      const problems = new ProblemLog();
      this.#titleRead = undefined;
      this.#summaries.begin();
      const isVague = this.#setting.newestAt > 0 || clashes.size > 0 || this.#distinct.hasRepeated;
      const places = new BatchPlaces(this.#ids, known, this.#last, isVague);
      const compared = await this.#compare(batch, known, places);
      const drafts = this.#draft(batch, known, compared, places, answers, problems);
      if (this.isLate) return;
      const done =
        drafts.length === 0 ? NO_APPEND : await this.#append(drafts, batch, places, tries, key);
      if (done === undefined) continue;
      const { stored, isRepeated } = done;
      this.#setting.problems.take(problems);
      this.stored += stored;
      this.skipped += batch.length - stored;
      this.#answers = answers;
      this.#hours.note(batch, isRepeated ? [] : drafts);
      if (!isRepeated || !this.#isNamed()) this.#title = this.#titleRead ?? this.#title;
      this.#summaries.commit();
      this.#last = places.last;
      const sent = new Map(drafts.map(({ id, supersedes }) => [id, supersedes]));
      for (const { entry, id } of batch) {
        if (known.has(id) || sent.get(id) !== undefined) this.#setting.onKnown?.(entry);
        if (!kindRules(entry.kind).movesLeaf) continue;
        this.#lastAt = entry.createdAt ?? Number.POSITIVE_INFINITY;
        const isTree = entry.parentSourceId !== undefined;
        this.#endsAsBefore = isTree && known.has(id) && !sent.has(places.idOf(entry.sourceId));
        this.#endsRepeated = isRepeated;
      }
      return;
    }
  }

  async #compare(
    batch: readonly Waiting[],
    known: Known,
    { idOf }: BatchPlaces,
  ): Promise<Comparison> {
    if (this.#setting.dryRun) return NO_COMPARISON;
    const size = (this.#subject.session?.entryCount ?? 0) + this.stored;
    return this.#versions.compare(batch, known, { createdAt: this.#createdAt, idOf, size });
  }

  /** The time of an entry without one. */
  get #createdAt(): number {
    return this.#setting.startedAt ?? this.#subject.startedAt;
  }

  #waiting(entries: readonly ImportedEntry[]): Waiting[] {
    return entries.map((entry) => ({ entry, id: this.#ids.of(entry.sourceId) }));
  }

  #draft(
    batch: readonly Waiting[],
    known: Known,
    compared: Comparison,
    places: BatchPlaces,
    answers: AnswerUsage,
    problems: ProblemLog,
  ): NewEntry[] {
    const { idOf } = places;
    const drafts: NewEntry[] = [];
    let leaf = this.#leaf;
    for (const { entry: read, id: first } of batch) {
      const stored = known.get(first);
      const isNew = stored === undefined;
      const entry = isNew ? withOwnUsage(read, answers) : read;
      if (!isNew) noteStored(read, stored.usage, answers);
      const { movesLeaf } = kindRules(entry.kind);
      const isListed = entry.parentSourceId === undefined;
      const parent = places.parentOf(entry);
      const now = compared.known.get(first);
      const isMoved = !isNew && now !== undefined && places.isMoved(entry, parent, stored, now);
      if (isMoved && now.isErased) {
        places.leaveOut(first, parent);
        continue;
      }
      const isVersion = isMoved || now?.isEdited === true;
      const id = isVersion ? this.#ids.of(`${stored?.id}~`) : (stored?.id ?? first);
      // A file without a tree continues from the stored leaf, or from the file's last entry if the
      // session was continued here.
      const isOurs = leaf === null || this.#ids.includes(leaf);
      const goesOn = isListed && isNew && leaf !== null && isOurs && !this.#isAside;
      const taken = compared.taken.get(first);
      const isInPlace = places.isInPlace(parent, taken);
      let parentId = goesOn && !isInPlace ? leaf : parent.id;
      if (isVersion && !isMoved) parentId = now?.parentId ?? null;
      if (isNew && movesLeaf && this.#judgesLate()) {
        // An entry whose parent is the leaf continues it, even if the session has other branches.
        const isNext = !isListed && parentId === this.#leaf;
        if (!isNext && this.#setting.whenLate === "refuse") {
          this.isLate = true;
          return [];
        }
        this.#isAside = !isNext;
        if (this.#isAside && isListed) parentId = parent.id;
      }
      if (isNew || isVersion) {
        const place = { id, createdAt: this.#createdAt, idOf, problems };
        // Fast path: most entries follow the previous one.
        const draft = draftImported(entry, parentId === leaf ? place : { ...place, parentId });
        const old = isVersion ? stored : isInPlace ? taken : undefined;
        const { usage } = draft;
        const more = isVersion ? usageBeyond(entry, usage, stored?.usage ?? null) : null;
        drafts.push(old === undefined ? draft : { ...draft, usage: more, supersedes: old.id });
        if (movesLeaf) this.#isContinued = isVersion && (this.#isContinued || !isOurs);
      }
      if (isNew && entry.kind === "session_info") {
        this.#titleRead = titleOf(entry) ?? this.#titleRead;
      }
      if (!movesLeaf) continue;
      if (isNew || isVersion) leaf = id;
      const depth = parentId === parent.id ? parent.depth + 1 : Number.NaN;
      places.put(first, isVersion || isNew ? { id, depth, isVersion } : stored);
      this.#summaries.note(entry, id, parentId);
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
    { idOf }: BatchPlaces,
    tries: number,
    key: Pick<AppendRequest, "idempotency">,
  ): Promise<Appended | undefined> {
    const { store, tenant } = this.#engine;
    if (this.#setting.dryRun) return { stored: drafts.length, isRepeated: false };
    if (this.#subject.session === null && !(await this.#make())) return undefined;
    const sessionId = this.#subject.session?.id ?? "";
    const summary = await this.#summaries.newOne(this.#engine, this.#leaf, {
      draft: drafts[0],
      first: batch[0]?.entry,
      idOf,
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
      const ids = drafts.map(({ id }) => id);
      const isLate = async () => (await store.findUsage(tenant, ids)).length > 0;
      if (!BackscrollError.is(error, "stale_leaf") && !(await isLate())) throw error;
      this.#leaf = (await store.findSession(tenant, sessionId))?.leaf ?? null;
      return undefined;
    }
  }
}
