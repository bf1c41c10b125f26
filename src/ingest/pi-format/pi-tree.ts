/**
 * Where an entry of pi's tree stands in ours.
 *
 * In pi every record is a node: a label can be the parent of a message. Here what does not move the
 * leaf is a note at the entry that it was added to, and has no children. So a child of a note becomes
 * a child of the note's entry, and a compaction that keeps "from this note on" keeps from the next
 * entry on.
 */

import type { JsonObject, JsonValue } from "../../model/json.ts";
import { KEPT_IDS, RecentMap } from "../recent-map.ts";

export interface TreePlace {
  /** The nearest entry above that moves the leaf; null for a new start. */
  readonly parent: string | null;
  /** False if the parent that was named is not in the file. */
  readonly found: boolean;
}

interface Note {
  /** The record that it follows, and the first entry behind it. */
  readonly parent: string | null;
  next?: string;
}

/** Newest records whose places the resume state keeps. */
const RECENT = 256;

export class PiTree {
  /** Every id, with the entry that it stands at: itself, if it moves the leaf. */
  readonly #places: RecentMap<string, string | null>;
  readonly #notes: RecentMap<string, Note>;
  #last: string | null = null;
  #lastNode: string | null = null;

  /** Whether earlier records were read before and are not known any more. */
  #isPart = false;

  /** `limit` is how many records are known at the same time: an older one is as one that never was. */
  constructor(limit: number = KEPT_IDS) {
    this.#places = new RecentMap(limit);
    this.#notes = new RecentMap(limit);
  }

  /** How many records and notes are known. */
  get size(): number {
    return this.#places.size + this.#notes.size;
  }

  /** The resume state: a few kilobytes, however long the file is. */
  state(): JsonObject {
    const places = [...this.#places].slice(-RECENT);
    const notes = places.flatMap(([id]) => {
      const note = this.#notes.get(id);
      return note === undefined ? [] : [[id, note.parent, note.next ?? null] as const];
    });
    const isPart = this.#isPart || this.#places.size > RECENT;
    return { places, notes, last: this.#last, lastNode: this.#lastNode, isPart };
  }

  static from(state: JsonValue | undefined): PiTree {
    const tree = new PiTree();
    if (state === undefined) return tree;
    const { places, notes, last, lastNode, isPart } = state as unknown as {
      readonly places: readonly (readonly [string, string | null])[];
      readonly notes: readonly (readonly [string, string | null, string | null])[];
      readonly last: string | null;
      readonly lastNode: string | null;
      readonly isPart: boolean;
    };
    for (const [id, node] of places) tree.#places.set(id, node);
    for (const [id, parent, next] of notes) {
      tree.#notes.set(id, next === null ? { parent } : { parent, next });
    }
    tree.#last = last;
    tree.#lastNode = lastNode;
    tree.#isPart = isPart;
    return tree;
  }

  /** Whether `id` may be that of a record which was read before, and is not known any more. */
  isLost(id: string): boolean {
    return this.#isPart && !this.#places.has(id);
  }

  /** The id of the record before, note or not: what a record without a parent follows. */
  get last(): string | null {
    return this.#last;
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  add(id: string, parentId: string | null, movesLeaf: boolean): TreePlace {
    const known = parentId === null ? null : this.#places.get(parentId);
    const found = known !== undefined;
    const parent = found ? known : this.#lastNode;
    if (movesLeaf) {
      this.#passNotes(parentId, id);
      this.#places.set(id, id);
      this.#lastNode = id;
    } else {
      this.#places.set(id, parent);
      this.#notes.set(id, { parent: parentId });
    }
    this.#last = id;
    return { parent, found };
  }

  /** The entry that moves the leaf at or behind `id`; undefined if there is none. */
  nodeFrom(id: string): string | undefined {
    return this.#places.get(id) === id ? id : this.#notes.get(id)?.next;
  }

  /** The entry that moves the leaf at or before `id`; undefined if `id` is not in the file. */
  nodeAt(id: string): string | null | undefined {
    return this.#places.get(id);
  }

  /** The entry is the first behind the notes between it and its parent. */
  #passNotes(parentId: string | null, node: string): void {
    let note = parentId === null ? undefined : this.#notes.get(parentId);
    while (note !== undefined) {
      note.next ??= node;
      note = note.parent === null ? undefined : this.#notes.get(note.parent);
    }
  }
}
