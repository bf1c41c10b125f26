/** The lines of the tree view: the fork point, kind and first message of each branch and fork, and their places. */

import type { RemoteEngine } from "../../client/index.ts";
import type { Branch, Entry, Session } from "../data/connection.ts";
import { oneLine } from "./tool-call.ts";

export interface TreeLine extends Stem {
  /** `edit` and `answer`: the first message supersedes one of the parent branch. */
  readonly kind: "first" | "edit" | "answer" | "branch" | "fork";
  readonly words: string;
  readonly endedAt: number;
  /** Set for a fork, which is a session of its own. */
  readonly sessionId?: string;
  readonly isActive: boolean;
}

/** Branches beyond this number show their last message instead of their first: no request each. */
const MAX_ASKED = 40;

/** The lines before any request: each branch with its last message. */
export function firstLines(branches: readonly Branch[]): readonly TreeLine[] {
  return branches.map((branch) => lineOf(branch, branch.leaf, "branch"));
}

export async function readLines(
  engine: RemoteEngine,
  sessionId: string,
  branches: readonly Branch[],
  derived: readonly Session[],
): Promise<readonly TreeLine[]> {
  const messageAt = async (leaf: string, offset: number): Promise<Entry | undefined> => {
    const input = { leaf, offset, limit: 1, preview: true };
    return (await engine.listMessages(sessionId, input)).messages[0];
  };
  const lines = await Promise.all(
    branches.map(async (branch, at) => {
      if (at >= MAX_ASKED) return lineOf(branch, branch.leaf, "branch");
      const { parentLeaf, forkIndex, leaf } = branch;
      const [own, other] = await Promise.all([
        messageAt(leaf.id, forkIndex),
        parentLeaf === null ? undefined : messageAt(parentLeaf, forkIndex),
      ]);
      return lineOf(branch, own ?? leaf, kindOf(branch, own, other));
    }),
  );
  const forks = derived.filter(({ forkPoint }) => forkPoint !== null).slice(0, MAX_ASKED);
  const left = await Promise.all(forks.map((fork) => forkLine(engine, fork, branches, messageAt)));
  return [...lines, ...left];
}

function kindOf(
  { parentLeaf, forkIndex }: Branch,
  own: Entry | undefined,
  other: Entry | undefined,
): TreeLine["kind"] {
  if (own !== undefined && other?.supersededBy === own.id) {
    return own.role === "assistant" ? "answer" : "edit";
  }
  return parentLeaf === null && forkIndex === 0 ? "first" : "branch";
}

function lineOf(branch: Branch, told: Entry, kind: TreeLine["kind"]): TreeLine {
  const { leaf, parentLeaf, forkIndex, messages, active } = branch;
  return {
    id: leaf.id,
    parent: parentLeaf,
    from: forkIndex,
    to: messages,
    kind,
    words: wordsOf(told),
    endedAt: leaf.createdAt,
    isActive: active,
  };
}

/** A fork copies a path up to a message and continues in another session. */
async function forkLine(
  engine: RemoteEngine,
  fork: Session,
  branches: readonly Branch[],
  messageAt: (leaf: string, offset: number) => Promise<Entry | undefined>,
): Promise<TreeLine> {
  const point = await engine.getEntry(fork.forkPoint ?? "").catch(() => undefined);
  const index = point?.index ?? 0;
  let parent: string | null = null;
  for (const { leaf } of branches.toSorted(
    (one, other) => Number(other.active) - Number(one.active),
  )) {
    if (point !== undefined && (await messageAt(leaf.id, index))?.id === point.id) {
      parent = stemWith(index, leaf.id, branches);
      break;
    }
  }
  return {
    id: fork.id,
    parent,
    from: index + 1,
    to: Math.max(index + 1, fork.messageCount),
    kind: "fork",
    words: fork.title === "" ? fork.shortId : fork.title,
    endedAt: fork.updatedAt,
    sessionId: fork.id,
    isActive: false,
  };
}

/** The branch on the path to `leaf` whose own part contains the message at `index`. */
function stemWith(index: number, leaf: string, branches: readonly Branch[]): string {
  const byLeaf = new Map(branches.map((branch) => [branch.leaf.id, branch]));
  let at = byLeaf.get(leaf);
  for (let steps = 0; steps < branches.length; steps++) {
    if (at === undefined || index >= at.forkIndex || at.parentLeaf === null) break;
    at = byLeaf.get(at.parentLeaf);
  }
  return at?.leaf.id ?? leaf;
}

function wordsOf({ blocks, kind }: Entry): string {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  if (text.trim() !== "") return oneLine(text);
  const call = blocks.find((block) => block.type === "tool_use");
  return call === undefined ? kind.replaceAll("_", " ") : `${call.name} …`;
}

/**
 * The layout of a session's branches: one horizontal line per branch, below its parent's line.
 *
 * Positions are fractions of the longest path, from 0 to 1, so the drawing scales to any width.
 */
interface Stem {
  readonly id: string;
  /** The branch it forked from; null at the root. */
  readonly parent: string | null;
  /** The number of messages before the fork. */
  readonly from: number;
  /** The number of messages on the whole path. */
  readonly to: number;
}

export interface PlacedStem {
  readonly id: string;
  readonly row: number;
  /** The parent's row; its own row for a root. */
  readonly parentRow: number;
  readonly start: number;
  readonly end: number;
}

/** Orders siblings by their fork, the latest first, so that no two lines cross. */
export function placeStems(stems: readonly Stem[]): readonly PlacedStem[] {
  const known = new Set(stems.map(({ id }) => id));
  const children = Map.groupBy(stems, ({ id, parent }) =>
    parent !== null && parent !== id && known.has(parent) ? parent : null,
  );
  const longest = Math.max(1, ...stems.map(({ to }) => to));
  const placed: PlacedStem[] = [];
  const seen = new Set<string>();
  // Branches unreachable from a root (a damaged store) come last, as roots.
  const roots = [...lastFirst(children.get(null) ?? []), ...stems];
  const todo = roots.map((stem) => ({ stem, parentRow: -1 }));
  for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
    const { stem, parentRow } = next;
    if (seen.has(stem.id)) continue;
    seen.add(stem.id);
    const row = placed.length;
    placed.push({
      id: stem.id,
      row,
      parentRow: parentRow === -1 ? row : parentRow,
      start: Math.min(stem.from, stem.to) / longest,
      end: stem.to / longest,
    });
    const own = lastFirst(children.get(stem.id) ?? []);
    todo.unshift(...own.map((child) => ({ stem: child, parentRow: row })));
  }
  return placed;
}

function lastFirst(stems: readonly Stem[]): readonly Stem[] {
  return stems.toSorted((one, other) => other.from - one.from || one.to - other.to);
}
