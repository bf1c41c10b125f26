/**
 * The stored versions of a file's entries, and which of them the file no longer agrees with.
 *
 * Entries are immutable. A line that says something else than it did becomes a new version: an entry
 * that supersedes the stored one. Every later entry of the file gets a new version too, because it
 * follows that one. So the path is that of the file, and the old one stays as a branch.
 */

import { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import type { Block } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { combineUsage } from "../../model/prices.ts";
import type { EntryPage } from "../../store/entry-query.ts";
import type { EntryRecord, EntryUsage, NewEntry } from "../../store/records.ts";
import { decodeContent } from "../../transcript/content.ts";
import type { EngineContext } from "../engine-context.ts";
import { saidIn } from "./distinct-entries.ts";
import { draftImported } from "./import-draft.ts";
import type { ImportedIds, PendingEntry } from "./imported-id.ts";

/** The newest version of an entry, with the time of its first and the usage of all. */
export interface StoredVersion extends EntryUsage {
  readonly isFirst: boolean;
}

/** By the id of the first version, which derives from the source's. */
export type Known = ReadonlyMap<string, StoredVersion>;

/** A stored entry, compared with its line. */
export interface Compared {
  readonly parentId: string | null;
  readonly isErased: boolean;
  readonly isEdited: boolean;
}

export interface Comparison {
  /** The known entries of a batch, by the ids of their first versions. */
  readonly known: ReadonlyMap<string, Compared>;
  /** Stored entries whose places new ones of the batch may take, by the ids of these. */
  readonly taken: ReadonlyMap<string, EntryRecord>;
}

export const NO_COMPARISON: Comparison = { known: new Map(), taken: new Map() };

/**
 * An edit stores all that follows it once more. A program that rewrites a file over and over must not
 * fill the store: a session of this many entries, history included, is not edited any more.
 */
const MAX_EDITED = 200_000;

export class StoredVersions {
  readonly #engine: EngineContext;
  readonly #problems: ProblemLog;
  #edits = 0;

  constructor(engine: EngineContext, problems: ProblemLog) {
    this.#engine = engine;
    this.#problems = problems;
  }

  /** The stored entries of a batch, and those that they name. */
  find(ids: ImportedIds, batch: readonly PendingEntry[]): Promise<Known> {
    const named = batch.flatMap(({ entry }) => sourcesIn(entry).map((each) => ids.of(each)));
    return this.#find(ids, new Set([...batch.map(({ id }) => id), ...named]));
  }

  async newest<Id extends string | null | undefined>(
    ids: ImportedIds,
    id: Id,
  ): Promise<string | Id> {
    if (typeof id !== "string") return id;
    return (await this.#find(ids, new Set([id]))).get(id)?.id ?? id;
  }

  /** Reports that the edits of this import are off the path. */
  tellAside(): void {
    if (this.#edits === 0) return;
    const message = `${this.#edits} stored entries have changed; the leaf is at another file's entry, or at one appended here, and their new versions are off the active path`;
    this.#problems.add("changed_entry", message);
  }

  /** Compares a batch with what is stored. `size` is the number of the session's entries. */
  async compare(
    batch: readonly PendingEntry[],
    known: Known,
    {
      ids,
      createdAt,
      size,
    }: {
      readonly ids: ImportedIds;
      readonly createdAt: number;
      readonly size: number;
    },
  ): Promise<Comparison> {
    const { store, tenant } = this.#engine;
    const lines = batch.flatMap(({ entry, id: first }) => {
      const version = known.get(first);
      return version === undefined ? [] : [{ entry, first, version }];
    });
    if (lines.length === 0) return NO_COMPARISON;
    const idOf = (source: string) => known.get(ids.of(source))?.id ?? ids.of(source);
    const place = { createdAt, idOf, problems: new ProblemLog() };
    const versions = lines.map(({ version }) => version.id);
    const { entries } = await store.findEntries(tenant, versions, false);
    const records = new Map(entries.map((record) => [record.id, record]));
    const drafts = new Map<string, NewEntry>();
    for (const { entry, version } of lines) {
      const record = records.get(version.id);
      const isFixed = record?.content == null || version.supersededBy !== null;
      if (isFixed || entry.isShortened || entry.blocks.length === 0) continue;
      if (!kindRules(entry.kind).movesLeaf) continue;
      const draft = draftImported(entry, { ...place, id: version.id });
      if (draft.content !== record.content) drafts.set(version.id, draft);
    }
    const edited = await this.#findEdited(drafts, size);
    const compared = new Map(
      lines.flatMap(({ first, version }) => {
        const record = records.get(version.id);
        if (record === undefined) return [];
        const { parentId, content } = record;
        return [
          [first, { parentId, isErased: content === null, isEdited: edited.has(version.id) }],
        ];
      }),
    );
    const taken = size < MAX_EDITED ? await this.#findTaken(batch, compared) : new Map();
    return { known: compared, taken };
  }

  /**
   * Where messages have no ids but their content, a changed line is a new entry. It takes the place of
   * the stored one before the next known entry.
   */
  async #findTaken(
    batch: readonly PendingEntry[],
    compared: ReadonlyMap<string, Compared>,
  ): Promise<ReadonlyMap<string, EntryRecord>> {
    const { store, tenant } = this.#engine;
    const taken = new Map<string, EntryRecord>();
    let before: string | null = null;
    for (const { entry, id } of batch.toReversed()) {
      if (!kindRules(entry.kind).movesLeaf) continue;
      const known = compared.get(id);
      if (known !== undefined) before = known.parentId;
      else if (before !== null) {
        const page: EntryPage = await store.findEntries(tenant, [before], false);
        const [record] = page.entries;
        if (record !== undefined) taken.set(id, record);
        before = record?.parentId ?? null;
      }
    }
    return taken;
  }

  /** Which entries say something else now; the same may be stored in another form. */
  async #findEdited(
    drafts: ReadonlyMap<string, NewEntry>,
    size: number,
  ): Promise<ReadonlySet<string>> {
    if (drafts.size === 0) return new Set();
    const { store, tenant } = this.#engine;
    const page = await store.findEntries(tenant, [...drafts.keys()], true);
    const edited = page.entries.filter((record) => isEdited(record, page, drafts.get(record.id)));
    this.#edits += edited.length;
    if (size < MAX_EDITED) return new Set(edited.map(({ id }) => id));
    for (const { id } of edited) {
      const message = `entry ${id} has changed, in a session of ${size} entries with its history: the new text was not stored`;
      this.#problems.add("changed_entry", message);
    }
    return new Set();
  }

  async #find(ids: ImportedIds, wanted: ReadonlySet<string>): Promise<Known> {
    const { store, tenant } = this.#engine;
    const known = new Map<string, StoredVersion>();
    let asked = new Map([...wanted].map((id) => [id, id]));
    while (asked.size > 0) {
      const next = new Map<string, string>();
      for (const found of await store.findUsage(tenant, [...asked.keys()])) {
        const first = asked.get(found.id) ?? found.id;
        const { usage: before, createdAt } = known.get(first) ?? { ...found, usage: null };
        const usage =
          before === null || found.usage === null
            ? (before ?? found.usage)
            : combineUsage(before, found.usage, (a, b) => a + b);
        known.set(first, { ...found, usage, createdAt, isFirst: found.id === first });
        // An edit that was made here is no version of the file.
        const { supersededBy: by } = found;
        if (by !== null && ids.includes(by)) next.set(by, first);
      }
      asked = next;
    }
    return known;
  }
}

function isEdited(
  { content }: EntryRecord,
  { payloads }: EntryPage,
  draft: NewEntry | undefined,
): boolean {
  if (content === null || draft === undefined) return false;
  const own = new Map(draft.payloads.map(({ hash, bytes }) => [hash, bytes]));
  const before = decodeContent(content, (hash) => payloads.get(hash)).blocks;
  const now = decodeContent(draft.content, (hash) => own.get(hash)).blocks;
  const [was, is] = [saidIn(before), saidIn(now)];
  return was !== is && !(hasOutput(before) && is.length * 2 < was.length);
}

/** Agents clear old outputs to save space: an output that lost most of its text is kept. */
function hasOutput(blocks: readonly Block[]): boolean {
  return blocks.some(({ type }) => type === "tool_result");
}

/** The source ids that it names: its parent, and those in its data. */
function sourcesIn({ parentSourceId, references = [], data }: ImportedEntry): string[] {
  const named = [parentSourceId, ...references.map((name) => data?.[name])];
  return named.filter((each) => typeof each === "string");
}
