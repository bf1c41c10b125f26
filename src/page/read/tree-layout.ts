/**
 * Where the branches of a session stand in a drawing: a line each, below the one that it left.
 *
 * Lengths are shares of the longest path, from 0 to 1, so that the drawing may have any width.
 */

export interface Stem {
  readonly id: string;
  /** The branch that it left; null if it starts at the root. */
  readonly parent: string | null;
  /** Messages of the path before its first own one. */
  readonly from: number;
  /** Messages of its whole path. */
  readonly to: number;
}

export interface PlacedStem {
  readonly id: string;
  readonly row: number;
  /** The row that it leaves; its own if it leaves none. */
  readonly parentRow: number;
  readonly start: number;
  readonly end: number;
}

/** Each branch comes right after those that left its parent later: so no two lines cross. */
export function placeStems(stems: readonly Stem[]): readonly PlacedStem[] {
  const known = new Set(stems.map(({ id }) => id));
  const children = Map.groupBy(stems, ({ id, parent }) =>
    parent !== null && parent !== id && known.has(parent) ? parent : null,
  );
  const longest = Math.max(1, ...stems.map(({ to }) => to));
  const placed: PlacedStem[] = [];
  const seen = new Set<string>();
  // Whatever no root leads to, as in a damaged store, comes last and on its own.
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
