/**
 * The place of an entry of pi's tree in ours.
 *
 * In pi every record is a node: a label can be the parent of a message. Here a record that does not
 * move the leaf is an annotation of its parent's entry, without children. So a child of an
 * annotation becomes a child of the annotated entry, and a compaction that keeps "from this record
 * on" keeps from the next entry on.
 */

import type { JsonObject, JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_IDS } from "../kept-counts.ts";

export interface TreePlace {
  /** The nearest ancestor that moves the leaf; null for a root. */
  readonly parent: string | null;
  /** False if the named parent is not in the file. */
  readonly found: boolean;
}

interface Annotation {
  /** The record that it follows, and the first entry after it. */
  readonly parent: string | null;
  next?: string;
}

/** Newest records whose places the resume state keeps. */
const RECENT = 256;

export class PiTree {
  /** Every id, with its entry: itself, if it moves the leaf. */
  readonly #places: RecentMap<string, string | null>;
  readonly #annotations: RecentMap<string, Annotation>;
  #last: string | null = null;
  #lastNode: string | null = null;

  /** Whether earlier records were read before and are no longer known. */
  #isPart = false;

  /** `limit` is the number of known records; older ones count as missing. */
  constructor(limit: number = KEPT_IDS) {
    this.#places = new RecentMap(limit);
    this.#annotations = new RecentMap(limit);
  }

  /** The number of known records and annotations. */
  get size(): number {
    return this.#places.size + this.#annotations.size;
  }

  /** The resume state: a few kilobytes, however long the file. */
  state(): JsonObject {
    const places = [...this.#places].slice(-RECENT);
    const notes = places.flatMap(([id]) => {
      const annotation = this.#annotations.get(id);
      if (annotation === undefined) return [];
      return [[id, annotation.parent, annotation.next ?? null] as const];
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
      tree.#annotations.set(id, next === null ? { parent } : { parent, next });
    }
    tree.#last = last;
    tree.#lastNode = lastNode;
    tree.#isPart = isPart;
    return tree;
  }

  /** Whether `id` may belong to a record that was read before and is no longer known. */
  isLost(id: string): boolean {
    return this.#isPart && !this.#places.has(id);
  }

  /** The previous record's id, annotations included: the parent of a record without one. */
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
      this.#passAnnotations(parentId, id);
      this.#places.set(id, id);
      this.#lastNode = id;
    } else {
      this.#places.set(id, parent);
      this.#annotations.set(id, { parent: parentId });
    }
    this.#last = id;
    return { parent, found };
  }

  /** The entry that moves the leaf at or after `id`; undefined if none. */
  nodeFrom(id: string): string | undefined {
    return this.#places.get(id) === id ? id : this.#annotations.get(id)?.next;
  }

  /** The entry that moves the leaf at or before `id`; undefined if `id` is not in the file. */
  nodeAt(id: string): string | null | undefined {
    return this.#places.get(id);
  }

  /** The entry is the first after the annotations between it and its parent. */
  #passAnnotations(parentId: string | null, node: string): void {
    let passed = parentId === null ? undefined : this.#annotations.get(parentId);
    // Those before one that was passed already were passed with it. Repeated ids may form a circle.
    while (passed !== undefined && passed.next === undefined) {
      passed.next = node;
      passed = passed.parent === null ? undefined : this.#annotations.get(passed.parent);
    }
  }
}
