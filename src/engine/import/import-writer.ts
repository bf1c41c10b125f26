/** Writes imported entries in batches, and leaves out what is there already. */

import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { lengthOfBlocks, textOf } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_BATCH_ENTRIES, MAX_SUMMARY_BYTES, MAX_TITLE_BYTES } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import type { AppendRequest, NewEntry } from "../../store/records.ts";
import type { Scope } from "../scope.ts";
import { draftImported, toText } from "./import-draft.ts";
import type { Described, Description } from "./import-session.ts";
import type { ImportSubject } from "./import-subject.ts";
import { ImportedIds } from "./imported-id.ts";

export interface ImportSetting {
  readonly key: string;
  readonly startedAt: number | null;
  readonly problems: ProblemLog;
  readonly dryRun: boolean;
  /** The entry that the first one follows, in a format without a tree. */
  readonly after: string | null;
  readonly describe: ((session: Described, title: string | undefined) => Description) | undefined;
}

interface Waiting {
  readonly entry: ImportedEntry;
  readonly id: string;
}

/** A batch is held in memory: this bounds it, whatever the entries hold. */
const BATCH_BYTES = 1024 * 1024;

/** How often somebody else may write to the session at the same moment. */
const TRIES = 5;

export class ImportWriter {
  stored = 0;
  skipped = 0;
  readonly #scope: Scope;
  readonly #subject: ImportSubject;
  readonly #setting: ImportSetting;
  readonly #ids: ImportedIds;
  #batch: Waiting[] = [];
  readonly #inBatch = new Set<string>();
  #bytes = 0;
  /** The batch before, which is being stored while this one is read. */
  #storing: Promise<void> = Promise.resolve();
  /** Entries of the file before the batch. */
  #before = 0;
  #looksUp = false;
  /** The session's leaf, as far as we know. */
  #leaf: string | null = null;
  /** The last entry of the file before the batch that moves the leaf. */
  #lastNode: string | null;
  #title: string | undefined;
  /** What stands for the past of each entry; absent where nothing is summarised. */
  readonly #summaries = new Map<string, string>();
  /** The session's summary, as far as we know. */
  #summary: string | null = null;
  /** Some of it is stored, or on its way. */
  #hasBegun = false;
  /** The session was made with what `describe` says of it. */
  #isDescribed = false;

  constructor(scope: Scope, subject: ImportSubject, setting: ImportSetting) {
    this.#scope = scope;
    this.#subject = subject;
    this.#setting = setting;
    this.#ids = new ImportedIds(setting.key);
    this.#lastNode = setting.after;
    if (subject.session !== null) this.#goOnFrom(subject.session);
  }

  async add(entry: ImportedEntry): Promise<void> {
    // What a summary covers must be stored when the summary is.
    if (entry.kind === "compaction") await this.#flush();
    const id = this.#ids.of(entry.sourceId);
    // Readers tell ids that they give twice; one that does not must not cost the whole batch.
    if (this.#inBatch.has(id)) {
      const message = `entry ${entry.sourceId} was given twice; the first counts`;
      this.#setting.problems.add("duplicate_id", message);
      return;
    }
    this.#inBatch.add(id);
    this.#batch.push({ entry, id });
    this.#bytes += sizeOf(entry);
    if (this.#batch.length === MAX_BATCH_ENTRIES || this.#bytes >= BATCH_BYTES) await this.#flush();
  }

  /** `leaf` is given where the source says that another entry than the last is the leaf. */
  async finish(leaf: string | null | undefined): Promise<void> {
    if (!this.#hasBegun && !this.#setting.dryRun) await this.#makeDescribed();
    await this.#flush();
    await this.#storing;
    const { session, isNew } = this.#subject;
    if (session === null || this.#setting.dryRun) return;
    if (this.stored === 0 && !isNew) return;
    const { store, tenant } = this.#scope;
    const { id: sessionId } = session;
    const now = this.#scope.now();
    const target = typeof leaf === "string" ? this.#ids.of(leaf) : leaf;
    if (target !== undefined && target !== this.#leaf) {
      await store.moveLeaf(tenant, { sessionId, leaf: target, now });
      this.#leaf = target;
    }
    const summary = this.#leaf === null ? null : (this.#summaries.get(this.#leaf) ?? null);
    const patch = {
      ...(summary === this.#summary ? {} : { summary }),
      ...(this.#isDescribed ? {} : this.#describe(session)),
    };
    if (Object.keys(patch).length > 0) await store.updateSession(tenant, sessionId, patch, now);
  }

  /** The last entry that was read and moves the leaf. */
  get last(): string | null {
    return this.#lastNode;
  }

  /** All is read and nothing is stored: a new session is made with what the entries say of it. */
  async #makeDescribed(): Promise<void> {
    const { session, described } = this.#subject;
    if (session !== null || described === undefined) return;
    for (const { entry } of this.#batch) if (entry.kind === "session_info") this.#noteTitle(entry);
    this.#isDescribed = await this.#make(this.#describe(described));
  }

  /** False if somebody else has made the session meanwhile: then what is in it counts. */
  async #make(description?: Description): Promise<boolean> {
    const session = await this.#subject.make(description);
    if (this.#subject.isNew) return true;
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
      ...this.#setting.describe?.(session, this.#title),
    };
  }

  /** Begins to store what was read, once the batch before is stored: each goes on from its leaf. */
  async #flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#hasBegun = true;
    this.#batch = [];
    this.#inBatch.clear();
    this.#bytes = 0;
    await this.#storing;
    this.#storing = this.#store(batch);
    // What goes wrong is thrown where it is waited for.
    this.#storing.catch(() => undefined);
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const known = await this.#findStored(batch);
      const drafts = this.#draft(batch, known);
      if (drafts.length > 0 && !(await this.#append(drafts, batch, tries))) continue;
      this.stored += drafts.length;
      this.skipped += known.size;
      break;
    }
    for (const { entry, id } of batch) {
      if (kindRules(entry.kind).movesLeaf) this.#lastNode = id;
    }
    this.#before += batch.length;
  }

  /** The ids of the batch that the store has. */
  async #findStored(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    if (!this.#looksUp) return new Set();
    const { store, tenant } = this.#scope;
    const ids = batch.map(({ id }) => id);
    const [last] = (await store.findEntries(tenant, ids.slice(-1), false)).entries;
    // As many entries stand before it as the file has before it: then they are the same ones.
    if (last?.sequence === this.#before + batch.length) return new Set(ids);
    const page = await store.findEntries(tenant, ids, false);
    return new Set(page.entries.map((record) => record.id));
  }

  #draft(batch: readonly Waiting[], known: ReadonlySet<string>): NewEntry[] {
    const { problems, startedAt } = this.#setting;
    const createdAt = startedAt ?? this.#subject.startedAt;
    const idOf = (sourceId: string) => this.#ids.of(sourceId);
    const drafts: NewEntry[] = [];
    let leaf = this.#leaf;
    let lastNode = this.#lastNode;
    for (const { entry, id } of batch) {
      const isNew = !known.has(id);
      // In a file without a tree the conversation goes on where we have it, unless somebody has
      // gone on with it here: then it goes on where the file has it.
      const tip = isNew && leaf !== null && this.#ids.includes(leaf) ? leaf : lastNode;
      const { parentSourceId: source } = entry;
      const parentId = source === undefined ? tip : source === null ? null : idOf(source);
      if (isNew) {
        // Most follow the one before: then nobody has to look for the parent.
        const place = parentId === leaf ? {} : { parentId };
        drafts.push(draftImported(entry, { id, ...place, createdAt, idOf, problems }));
      }
      if (isNew && entry.kind === "session_info") this.#noteTitle(entry);
      if (!kindRules(entry.kind).movesLeaf) continue;
      if (isNew) leaf = id;
      lastNode = id;
      this.#noteSummary(entry, id, parentId);
    }
    return drafts;
  }

  /** False if somebody else has written at the same time: then the batch is to be looked at again. */
  async #append(
    drafts: readonly NewEntry[],
    batch: readonly Waiting[],
    tries: number,
  ): Promise<boolean> {
    const { store, tenant } = this.#scope;
    if (this.#setting.dryRun) return true;
    if (this.#subject.session === null && !(await this.#make())) return false;
    const sessionId = this.#subject.session?.id ?? "";
    const summary = await this.#summaryOf(drafts[0], batch);
    try {
      const result = await store.append(tenant, {
        ...{ sessionId, entries: drafts, now: this.#scope.now(), expectedLeaf: this.#leaf },
        isHistory: true,
        ...summary,
      });
      this.#leaf = result.leaf;
      this.#summary = summary.summary?.text ?? this.#summary;
      return true;
    } catch (error) {
      if (tries === TRIES) throw error;
      this.#looksUp = true;
      // Notes do not move the leaf: that another import was faster shows in what is there by now.
      const isLate = async () => {
        const known = await this.#findStored(batch);
        return drafts.some(({ id }) => known.has(id));
      };
      if (!BackscrollError.is(error, "stale_leaf") && !(await isLate())) throw error;
      this.#leaf = (await store.findSession(tenant, sessionId))?.leaf ?? null;
      return false;
    }
  }

  /** What a compaction changes beside adding its entry. It is the first of its batch. */
  async #summaryOf(
    draft: NewEntry | undefined,
    batch: readonly Waiting[],
  ): Promise<Pick<AppendRequest, "summary">> {
    const { entry, id } = batch[0] ?? {};
    if (entry?.kind !== "compaction" || draft?.id !== id) return {};
    const kept = entry.data?.["firstKeptEntryId"];
    const through =
      typeof kept === "string" ? await this.#parentOf(this.#ids.of(kept)) : draft?.parentId;
    const text = this.#summaries.get(id ?? "");
    return typeof through === "string" && text !== undefined ? { summary: { text, through } } : {};
  }

  async #parentOf(id: string): Promise<string | null> {
    const [record] = (await this.#scope.store.findEntries(this.#scope.tenant, [id], false)).entries;
    return record?.parentId ?? null;
  }

  #noteSummary(entry: ImportedEntry, id: string, parentId: string | null): void {
    const summary =
      entry.kind === "compaction"
        ? toText(textOf(entry.blocks), MAX_SUMMARY_BYTES)
        : this.#summaries.get(parentId ?? "");
    if (summary !== undefined) this.#summaries.set(id, summary);
  }

  #noteTitle(entry: ImportedEntry): void {
    const name = entry.data?.["name"];
    if (typeof name === "string") this.#title = toText(name, MAX_TITLE_BYTES);
  }
}

/** About the bytes that it takes in memory. */
function sizeOf(entry: ImportedEntry): number {
  return 200 + lengthOfBlocks(entry.blocks);
}
