/**
 * Values of channels as pieces. A list is stored as a sequence of pieces, so that a list that has grown
 * costs what was added: members that are as they were keep their pieces. Eight neighbouring pieces of one
 * tier are joined, as segments of a log-structured index are, so that their number stays small.
 */

import type { Line } from "./keys.ts";
import { type Draft, newPieceId, type Piece, type PieceStore, WHOLE } from "./piece-store.ts";
import type { ChannelVersion } from "./sdk-types.ts";

/** As it stands in a checkpoint's record. */
export interface StoredValue {
  readonly version: ChannelVersion;
  readonly isList: boolean;
  readonly pieces: readonly Piece[];
}

/** A stored value, what has to be written for it, and which members of a list were not there before. */
export interface PlannedValue {
  readonly stored: StoredValue;
  readonly drafts: readonly Draft[];
  readonly added: number;
}

/** Pieces that are joined. */
const FAN = 8;
/** A joined piece is no larger, so that a join is a short write. */
const MAX_JOINED_BYTES = 1024 * 1024;

export class ChannelValues {
  readonly #pieces: PieceStore;

  constructor(pieces: PieceStore) {
    this.#pieces = pieces;
  }

  /** Plans to store a value that takes the place of an earlier one. */
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

  /** The same value in pieces that were not written before `oldest`, so that they outlast it. */
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

  /** The pieces of the start of a list that is as it was. */
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

  /** In halves, if they are too many for one piece. */
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

/** The last pieces, if they are enough of one tier to be joined. */
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
