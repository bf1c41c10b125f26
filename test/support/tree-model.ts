/**
 * A naive model of a session's tree: a list of nodes with their parents.
 *
 * The property test executes each operation here and in the store, and compares.
 */

import { ENTRY_KINDS, type EntryKind } from "../../src/index.ts";

export interface Node {
  readonly id: string;
  readonly parentId: string | null;
  readonly kind: EntryKind;
  readonly text: string;
  readonly status: "committed" | "aborted";
  supersededBy: string | null;
  /** Of a label: its target and its name. */
  readonly target?: string;
  readonly label?: string | null;
  readonly copiedFrom: string | null;
}

export type NewNode = Pick<Node, "id" | "kind" | "text"> & Partial<Node>;

export class TreeModel {
  readonly nodes: Node[] = [];
  leaf: string | null = null;

  /** `parentId` defaults to the leaf. */
  add(node: NewNode): Node {
    const added: Node = {
      parentId: this.leaf,
      status: "committed",
      supersededBy: null,
      copiedFrom: null,
      ...node,
    };
    this.nodes.push(added);
    if (isNode(added)) this.leaf = added.id;
    return added;
  }

  supersede(id: string, by: string): void {
    this.get(id).supersededBy = by;
  }

  get(id: string): Node {
    const node = this.nodes.find((each) => each.id === id);
    if (node === undefined) throw new Error(`the model has no entry ${id}`);
    return node;
  }

  /** From the root to `id`, annotations left out. */
  path(id: string | null): Node[] {
    const path: Node[] = [];
    for (let at = id; at !== null; ) {
      const node = this.get(at);
      if (isNode(node)) path.unshift(node);
      at = node.parentId;
    }
    return path;
  }

  /** As `path`, each entry followed by its annotations in the order of writing. */
  annotatedPath(id: string | null): Node[] {
    const annotations = (anchor: string | null) =>
      this.nodes.filter((node) => !isNode(node) && node.parentId === anchor);
    return [
      ...annotations(null),
      ...this.path(id).flatMap((node) => [node, ...annotations(node.id)]),
    ];
  }

  messages(id: string | null): Node[] {
    return this.path(id).filter((node) => node.kind === "message");
  }

  get messageCount(): number {
    return this.nodes.filter((node) => node.kind === "message" && node.status === "committed")
      .length;
  }

  labels(): Map<string, string> {
    const labels = new Map<string, string>();
    for (const { kind, target, label } of this.nodes) {
      if (kind !== "label" || target === undefined) continue;
      if (typeof label === "string") labels.set(target, label);
      else labels.delete(target);
    }
    return labels;
  }

  /** The index of a message on its own path. */
  indexOf(node: Node): number | null {
    if (node.kind !== "message" || node.status !== "committed") return null;
    return this.messages(node.id).length - 1;
  }
}

/** Whether an entry can have children. The others are annotations of their parent. */
export function isNode(node: Node): boolean {
  return ENTRY_KINDS[node.kind].movesLeaf && node.status === "committed";
}
