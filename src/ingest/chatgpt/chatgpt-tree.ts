/**
 * The tree of a conversation. Nodes without a message or text are skipped: their children attach to
 * the entry before them.
 */

import { isPlainObject } from "../../model/json.ts";
import { toImportedEntry } from "../drafts.ts";
import { textField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";
import { type CallPlace, FORMAT, toDraft } from "./chatgpt-message.ts";

interface NodePlace {
  /** The entry at or above the node that moves the leaf. */
  readonly entry: string | null;
  /** The last call above it: a tool's message does not name its call. */
  readonly call: CallPlace | undefined;
}

const ROOT: NodePlace = { entry: null, call: undefined };

export class ChatgptTree {
  readonly #mapping: Record<string, unknown>;
  readonly #problems: ProblemLog;
  readonly #places = new Map<string, NodePlace>();

  /** A message is removed from `mapping` when given: a conversation may have many megabytes. */
  constructor(mapping: Record<string, unknown>, problems: ProblemLog) {
    this.#mapping = mapping;
    this.#problems = problems;
  }

  /** Parents before children; undefined if the node is missing. */
  entryAt(node: string | undefined): string | null | undefined {
    return node === undefined ? undefined : this.#places.get(node)?.entry;
  }

  async *entries(): AsyncGenerator<ImportedEntry> {
    for (const id of this.#order()) {
      const node = this.#mapping[id];
      this.#mapping[id] = undefined;
      if (!isPlainObject(node)) continue;
      const parent = textField(node, "parent");
      const above = parent === undefined ? ROOT : this.#places.get(parent);
      if (above === undefined) {
        const message = `the parent ${parent} of ${id} is missing; it becomes a root`;
        this.#problems.add("missing_parent", message);
      }
      const { entry, call } = above ?? ROOT;
      const message = isPlainObject(node["message"]) ? node["message"] : undefined;
      const draft = message === undefined ? undefined : toDraft(message, id, call);
      if (draft === undefined) {
        this.#places.set(id, above ?? ROOT);
        continue;
      }
      if (draft.unknown !== undefined) {
        const what = `a message of ${JSON.stringify(draft.unknown)} was kept as it is`;
        this.#problems.add("unexpected", what);
      }
      yield toImportedEntry(FORMAT, { ...draft.entry, parentSourceId: entry });
      const moves = draft.entry.kind !== "custom";
      this.#places.set(id, { entry: moves ? id : entry, call: draft.call ?? call });
    }
  }

  /** From each root down, then the nodes that no root reaches. */
  #order(): Iterable<string> {
    const seen = new Set<string>();
    const ids = Object.keys(this.#mapping);
    const isRoot = (id: string) => {
      const node = this.#mapping[id];
      const parent = isPlainObject(node) ? textField(node, "parent") : undefined;
      return parent === undefined || !Object.hasOwn(this.#mapping, parent);
    };
    for (const start of [...ids.filter(isRoot), ...ids]) {
      const todo = [start];
      for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
        if (seen.has(id) || !Object.hasOwn(this.#mapping, id)) continue;
        seen.add(id);
        const node = this.#mapping[id];
        const children = isPlainObject(node) ? node["children"] : [];
        // A stack: the first child's branch comes first.
        for (const child of Array.isArray(children) ? children.toReversed() : []) {
          if (typeof child === "string" && this.#isChild(child, id)) todo.push(child);
        }
      }
    }
    return seen;
  }

  #isChild(child: string, parent: string): boolean {
    const node = Object.hasOwn(this.#mapping, child) ? this.#mapping[child] : undefined;
    return isPlainObject(node) && node["parent"] === parent;
  }
}
