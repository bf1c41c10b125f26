/**
 * The layout of a session's branches: one horizontal line per branch, below its parent's line.
 *
 * Positions are fractions of the longest path, from 0 to 1, so the drawing scales to any width.
 */

export interface Stem {
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
