/**
 * Values of channels as pieces, with tiered merges (LSM).
 *
 * A list is a sequence of pieces. Unchanged members keep their pieces, so that a list that has
 * grown costs only the added members. Eight neighbouring pieces of one tier are merged into one of
 * the next, so that their number stays small.
 */

import type { Line } from "./keys.ts";
import { type Draft, newPieceId, type Piece, type PieceStore, WHOLE } from "./piece-store.ts";
import type { ChannelVersion } from "./sdk-types.ts";

/** A value as a checkpoint's record names it. */
export interface StoredValue {
  readonly version: ChannelVersion;
  readonly isList: boolean;
  readonly pieces: readonly Piece[];
}

/** A value to store: its pieces, the pieces to write, and the number of new members of a list. */
export interface PlannedValue {
  readonly stored: StoredValue;
  readonly drafts: readonly Draft[];
  readonly added: number;
}

/** The fan-in of a merge. */
const FAN = 8;
/** The limit of a merged piece, which keeps a merge short. */
const MAX_JOINED_BYTES = 1024 * 1024;

export class ChannelValues {
  readonly #pieces: PieceStore;

  constructor(pieces: PieceStore) {
    this.#pieces = pieces;
  }

  /** Plans the write of a value that replaces an earlier one. */
  async plan(
    line: Line,
    value: unknown,
    version: ChannelVersion,
    earlier: StoredValue | undefined,
    at: number,
  ): Promise<PlannedValue> {
    if (!Array.isArray(value)) {
      const { piece, held } = await this.#pieces.draft([value], true, at);
      const whole: Draft = { piece: withTier(piece, WHOLE), held };
      const stored = { version, isList: false, pieces: [whole.piece] };
      return { stored, drafts: [whole], added: 1 };
    }
    const members: readonly unknown[] = value;
    const kept = earlier?.isList ? await this.#keptPieces(line, earlier.pieces, members) : [];
    const keptMembers = countMembers(kept);
    const fresh = await this.#draftAll(members.slice(keptMembers), at);
    const drafts = new Map(fresh.map((draft) => [draft.piece[0], draft]));
    const pieces = [...kept, ...fresh.map(({ piece }) => piece)];
    for (let run = lastRun(pieces); run.length === FAN; run = lastRun(pieces)) {
      pieces.splice(-FAN);
      const start = countMembers(pieces);
      const joined = await this.#pieces.draft(
        members.slice(start, start + countMembers(run)),
        false,
        at,
      );
      const piece = withTier(joined.piece, (run[0]?.[5] ?? 0) + 1);
      drafts.set(piece[0], { piece, held: joined.held });
      pieces.push(piece);
    }
    return {
      stored: { version, isList: true, pieces },
      drafts: pieces.flatMap(([id]) => drafts.get(id) ?? []),
      added: members.length - keptMembers,
    };
  }

  /**
   * Copies the pieces of a value that were written before `oldest`, so that they outlive its
   * checkpoint.
   */
  async renew(
    line: Line,
    value: StoredValue,
    oldest: number,
    at: number,
  ): Promise<Omit<PlannedValue, "added">> {
    const old = value.pieces.filter((piece) => piece[3] < oldest);
    if (old.length === 0) return { stored: value, drafts: [] };
    const held = await this.#pieces.hold(line, old);
    const drafts: Draft[] = [];
    const pieces: Piece[] = [];
    for (const piece of value.pieces) {
      const [id, bytes, type, written, count, tier] = piece;
      const content = held.get(id);
      if (written >= oldest || content === undefined) {
        pieces.push(piece);
        continue;
      }
      const renewed: Piece = [newPieceId(), bytes, type, at, count, tier];
      drafts.push({ piece: renewed, held: content });
      pieces.push(renewed);
    }
    return { stored: { ...value, pieces }, drafts };
  }

  async load(
    line: Line,
    values: ReadonlyMap<string, StoredValue>,
  ): Promise<Record<string, unknown>> {
    const held = await this.#pieces.hold(
      line,
      [...values.values()].flatMap(({ pieces }) => pieces),
    );
    const loaded: [string, unknown][] = [];
    for (const [channel, { isList, pieces }] of values) {
      const members: unknown[] = [];
      for (const [id] of pieces) {
        const content = held.get(id);
        if (content === undefined) continue;
        for (const member of await this.#pieces.members(content, !isList)) members.push(member);
      }
      loaded.push([channel, isList ? members : members[0]]);
    }
    return Object.fromEntries(loaded);
  }

  /** The pieces of the list's unchanged prefix. */
  async #keptPieces(
    line: Line,
    pieces: readonly Piece[],
    members: readonly unknown[],
  ): Promise<Piece[]> {
    const held = await this.#pieces.hold(line, pieces);
    const kept: Piece[] = [];
    let start = 0;
    for (const piece of pieces) {
      const [id, , , , count] = piece;
      const content = held.get(id);
      if (content === undefined || start + count > members.length) break;
      if (!(await this.#pieces.isSame(content, members, start, count))) break;
      kept.push(piece);
      start += count;
    }
    return kept;
  }

  /** One piece, or the pieces of two halves if the members exceed one. */
  async #draftAll(members: readonly unknown[], at: number): Promise<Draft[]> {
    if (members.length === 0) return [];
    const draft = await this.#pieces.draft(members, false, at);
    if (draft.piece[1] <= MAX_JOINED_BYTES || members.length === 1) return [draft];
    const middle = members.length >> 1;
    return [
      ...(await this.#draftAll(members.slice(0, middle), at)),
      ...(await this.#draftAll(members.slice(middle), at)),
    ];
  }
}

/** The last pieces, if a merge of their tier is due. */
function lastRun(pieces: readonly Piece[]): readonly Piece[] {
  const run = pieces.slice(-FAN);
  const tier = run[0]?.[5];
  const bytes = run.reduce((sum, piece) => sum + piece[1], 0);
  const isRun = run.length === FAN && run.every((piece) => piece[5] === tier);
  return isRun && bytes <= MAX_JOINED_BYTES ? run : [];
}

function countMembers(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece[4], 0);
}

function withTier([id, bytes, type, at, count]: Piece, tier: number): Piece {
  return [id, bytes, type, at, count, tier];
}
