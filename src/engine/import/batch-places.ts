/** The places of a batch's entries in the session's tree, as the file has them. */

import type { ImportedEntry } from "../../ingest/source.ts";
import { kindRules } from "../../model/entry.ts";
import type { EntryRecord } from "../../store/records.ts";
import type { ImportedIds } from "./imported-id.ts";
import type { Compared, Known, StoredVersion } from "./stored-versions.ts";

export interface Place {
  /** The newest version of the entry; null before the first. */
  readonly id: string | null;
  readonly depth: number;
  /** Of a later version: the sequence after which the followers of the entry must be stored. Else 0. */
  readonly since: number;
}

export const ROOT: Place = { id: null, depth: 0, since: 0 };

export class BatchPlaces {
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
