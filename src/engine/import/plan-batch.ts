/**
 * Plans a batch of an import: the drafts to append, and what the import knows once they are stored.
 *
 * The writer looks the batch up in the store, computes this plan, and executes it. After a
 * concurrent write it does so once more, from the same state.
 */

import { ProblemLog } from "../../ingest/problems.ts";
import { type ImportedEntry, UNREADABLE_SUMMARY } from "../../ingest/source.ts";
import { textOf } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { MAX_SUMMARY_BYTES, MAX_TITLE_BYTES } from "../../model/limits.ts";
import type { EntryRecord, NewEntry } from "../../store/records.ts";
import { draftImported, toText } from "./import-draft.ts";
import { AnswerUsage, usageBeyond, withRemainder } from "./import-usage.ts";
import type { ImportedIds, PendingEntry } from "./imported-id.ts";
import type { FileOrder } from "./session-files.ts";
import type { Compared, Comparison, Known, StoredVersion } from "./stored-versions.ts";

/** What an import knows after the batches so far. */
export interface ImportState {
  /** The session's leaf, as far as we know. */
  readonly leaf: string | null;
  /** The last entry of the file that moves the leaf. */
  readonly last: Place;
  /** The time of that entry; infinite before the first and without a time. */
  readonly lastAt: number;
  /**
   * That entry was `added`, or is `known`: then the new entries of a tree are a branch. `repeated`:
   * an earlier attempt of this import has stored it, and what differs now was edited later.
   */
  readonly ending: "added" | "known" | "repeated";
  /** New entries continue the `path`, or are a `branch` besides it; else the first one decides. */
  readonly side: "undecided" | "path" | "branch";
  /** New versions were stored while the leaf was at a message that was appended here. */
  readonly isContinued: boolean;
  readonly answers: AnswerUsage;
  /** The title that the entries give. */
  readonly title: string | undefined;
}

/** The state before the first batch. `after` is the last entry of an earlier reading. */
export function stateAt(
  leaf: string | null,
  after: string | null,
  rule: FileOrder["rule"],
): ImportState {
  return {
    leaf,
    last: { ...ROOT, id: after },
    lastAt: Number.POSITIVE_INFINITY,
    ending: "added",
    side: rule === "refuse" || rule === "aside" ? "undecided" : "path",
    isContinued: false,
    answers: new AnswerUsage(),
    title: undefined,
  };
}

/** A batch, and what is stored of it. */
export interface BatchFindings {
  readonly entries: readonly PendingEntry[];
  readonly known: Known;
  readonly compared: Comparison;
  /** Ids repeat, or other files of the session may name other parents for an entry. */
  readonly isVague: boolean;
}

/** What does not depend on the batch. */
export interface ImportFacts {
  readonly ids: ImportedIds;
  readonly rule: FileOrder["rule"];
  /** The time of an entry without one. */
  readonly createdAt: number;
  /** A user, or an earlier attempt of this import, has set a title. */
  readonly isNamed: boolean;
  /** The text of the last compaction before an entry that is stored. */
  readonly summaryAt: (id: string | null) => string | undefined;
}

export interface BatchPlan {
  readonly drafts: readonly NewEntry[];
  /** Once the drafts are stored; the leaf is that of the session before. */
  readonly next: ImportState;
  /** If an earlier attempt of the import has stored them. */
  readonly nextIfRepeated: ImportState;
  readonly problems: ProblemLog;
  /** Entries of which a version is stored. */
  readonly met: readonly ImportedEntry[];
  readonly summaries: ReadonlyMap<string, string>;
  /** Set if the first draft is a compaction. */
  readonly summary: NewSummary | undefined;
}

/** The session's new summary. */
export interface NewSummary {
  readonly text: string;
  /** The parent of the compaction. */
  readonly parentId: string | null;
  /** The first entry that the summary does not cover; undefined if it covers all before it. */
  readonly keptId: string | undefined;
}

/** Undefined if the file is late, and refused therefore. */
export function planBatch(
  state: ImportState,
  { entries, known, compared, isVague }: BatchFindings,
  { ids, rule, createdAt, isNamed, summaryAt }: ImportFacts,
): BatchPlan | undefined {
  const places = new BatchPlaces(ids, known, state.last, isVague);
  const { idOf } = places;
  const answers = new AnswerUsage(state.answers);
  const problems = new ProblemLog();
  const summaries = new Map<string, string>();
  const drafts: NewEntry[] = [];
  const met: ImportedEntry[] = [];
  let { leaf, side, isContinued, title } = state;
  for (const { entry, id: first } of entries) {
    const { movesLeaf } = kindRules(entry.kind);
    const stored = known.get(first);
    const isNew = stored === undefined;
    if (!isNew && entry.answer !== undefined)
      answers.found(entry.answer, entry.usage, stored.usage);
    const parent = places.parentOf(entry);
    const now = compared.known.get(first);
    const isMoved = !isNew && now !== undefined && places.isMoved(entry, parent, stored, now);
    const isErased = isMoved && now.isErased;
    const isVersion = !isErased && (isMoved || now?.isEdited === true);
    const taken = isNew ? compared.taken.get(first) : undefined;
    const isInPlace = places.isInPlace(parent, taken);
    const superseded = isVersion ? stored : isInPlace ? taken : undefined;
    if (!isNew || superseded !== undefined) met.push(entry);
    if (isErased) {
      places.leaveOut(first, parent);
      continue;
    }
    const isTree = entry.parentSourceId !== undefined;
    const id = isVersion ? ids.of(`${stored?.id}~`) : (stored?.id ?? first);
    // A file without a tree continues from the stored leaf, or from the file's last entry if the
    // session was continued here.
    const isOurs = leaf === null || ids.includes(leaf);
    const resumes = !isTree && isNew && leaf !== null && isOurs && side !== "branch";
    let parentId = resumes && !isInPlace ? leaf : parent.id;
    if (isVersion && !isMoved) parentId = now?.parentId ?? null;
    if (isNew && movesLeaf && side === "undecided") {
      // An entry whose parent is the leaf continues it, even if the session has other branches.
      const isNext = isTree && parentId === state.leaf;
      if (!isNext && rule === "refuse") return undefined;
      side = isNext ? "path" : "branch";
      if (!isNext && !isTree) parentId = parent.id;
    }
    if (isNew || isVersion) {
      const read = isNew ? withRemainder(entry, answers) : entry;
      const place = { id, createdAt, idOf, problems };
      // Fast path: most entries follow the previous one.
      const draft = draftImported(read, parentId === leaf ? place : { ...place, parentId });
      const usage = isVersion ? usageBeyond(entry, draft.usage, stored?.usage ?? null) : null;
      drafts.push(superseded ? { ...draft, usage, supersedes: superseded.id } : draft);
      if (movesLeaf) isContinued = isVersion && (isContinued || !isOurs);
    }
    if (isNew && entry.kind === "session_info") title = titleIn(entry) ?? title;
    if (!movesLeaf) continue;
    if (isNew || isVersion) leaf = id;
    const depth = parentId === parent.id ? parent.depth + 1 : Number.NaN;
    places.put(first, isVersion || isNew ? { id, depth, isVersion } : stored);
    const said = summaryOf(entry) ?? summaries.get(parentId ?? "") ?? summaryAt(parentId);
    if (said !== undefined) summaries.set(id, said);
  }
  const end = entries.findLast(({ entry }) => kindRules(entry.kind).movesLeaf);
  const next = { ...state, last: places.last, side, isContinued, answers, title };
  if (end !== undefined) {
    const { createdAt, parentSourceId, sourceId } = end.entry;
    const isKnown =
      parentSourceId !== undefined &&
      known.has(end.id) &&
      !drafts.some(({ id }) => id === idOf(sourceId));
    next.lastAt = createdAt ?? Number.POSITIVE_INFINITY;
    next.ending = isKnown ? "known" : "added";
  }
  const [draft] = drafts;
  const kept = entries[0]?.entry.data?.["firstKeptEntryId"];
  const text = summaries.get(draft?.id ?? "");
  return {
    drafts,
    next,
    nextIfRepeated: {
      ...next,
      ending: end === undefined ? next.ending : "repeated",
      title: isNamed ? state.title : title,
    },
    problems,
    met,
    summaries,
    // Only the first entry of a batch can be a compaction. One without a parent follows the leaf.
    summary:
      draft?.kind !== "compaction" || text === undefined
        ? undefined
        : {
            text,
            parentId: draft.parentId === undefined ? state.leaf : draft.parentId,
            keptId: typeof kept === "string" ? idOf(kept) : undefined,
          },
  };
}

/** Undefined unless the entry is a compaction with a summary. */
function summaryOf({ kind, data, blocks }: ImportedEntry): string | undefined {
  const isReadable = kind === "compaction" && data?.[UNREADABLE_SUMMARY] !== true;
  return isReadable ? toText(textOf(blocks), MAX_SUMMARY_BYTES) : undefined;
}

export function titleIn({ data }: ImportedEntry): string | undefined {
  const name = data?.["name"];
  return typeof name === "string" ? toText(name, MAX_TITLE_BYTES) : undefined;
}

interface Place {
  /** The newest version of the entry; null before the first. */
  readonly id: string | null;
  readonly depth: number;
  /** Of a later version: the sequence after which the followers of the entry must be stored. Else 0. */
  readonly since: number;
}

const ROOT: Place = { id: null, depth: 0, since: 0 };

class BatchPlaces {
  /** The last entry of the file that moves the leaf: the parent of an entry that names none. */
  last: Place;
  readonly #ids: ImportedIds;
  readonly #stored: Known;
  readonly #isVague: boolean;
  readonly #own = new Map<string, Place>();
  /** Stored entries that are in the file. */
  readonly #there: ReadonlySet<string>;

  /** `isVague`: ids repeat, or other files of the session may name other parents for an entry. */
  constructor(ids: ImportedIds, stored: Known, last: Place, isVague: boolean) {
    this.#ids = ids;
    this.#stored = stored;
    this.last = last;
    this.#isVague = isVague;
    this.#there = new Set([...stored.values()].map(({ id }) => id));
  }

  parentOf({ parentSourceId: source }: ImportedEntry): Place {
    if (source === undefined) return this.last;
    return source === null ? ROOT : this.#of(this.#ids.of(source));
  }

  /** The newest version of an entry that the file names. */
  readonly idOf = (sourceId: string): string => {
    const first = this.#ids.of(sourceId);
    return this.#of(first).id ?? first;
  };

  /**
   * Whether a stored entry must follow another one than it does: a later version, or an entry in the
   * place of one that is gone from the file. A line that is gone from between them stays on the path.
   */
  isMoved(
    { kind }: ImportedEntry,
    parent: Place,
    stored: StoredVersion,
    { parentId }: Compared,
  ): boolean {
    if (parent.id === parentId) return false;
    if (parent.since > stored.sequence) return true;
    const depth = stored.depth - (kindRules(kind).movesLeaf ? 1 : 0);
    return parent.depth === depth && !this.#isVague && !this.#there.has(parentId ?? "");
  }

  /** Whether a new entry below `parent` takes the place of a stored one. */
  isInPlace(parent: Place, taken: Pick<EntryRecord, "depth"> | undefined): boolean {
    return taken?.depth === parent.depth + 1 && !this.#isVague;
  }

  /** The entry is stored already, or is sent to the store under an id. */
  put(
    first: string,
    at:
      | StoredVersion
      | { readonly id: string; readonly depth: number; readonly isVersion: boolean },
  ): void {
    const { id, depth } = at;
    const since = "sequence" in at ? sinceOf(at) : at.isVersion ? Number.POSITIVE_INFINITY : 0;
    this.#own.set(first, { id, depth, since });
    // Without a tree, all that follows in the file follows a version.
    this.last = { id, depth, since: Math.max(this.last.since, since) };
  }

  /** The followers of the entry belong below its parent. */
  leaveOut(first: string, parent: Place): void {
    this.#own.set(first, parent);
  }

  #of(first: string): Place {
    const stored = this.#stored.get(first);
    const { id = first, depth = Number.NaN } = stored ?? {};
    return this.#own.get(first) ?? { id, depth, since: sinceOf(stored) };
  }
}

function sinceOf(stored: StoredVersion | undefined): number {
  return stored === undefined || stored.isFirst ? 0 : stored.sequence;
}
