/**
 * Where a line of Claude Code stands in our tree.
 *
 * There every line with a uuid is a node: a progress bar can be the parent of a message. Here what
 * does not move the leaf is a note at the entry that it was added to, and its children follow that
 * entry.
 *
 * Calls that one answer makes at the same time fork the tree there: each result hangs on the line of
 * its own call, and only one of them is on the path to what follows. Here the lines of one answer and
 * the results of its calls are one chain, in the order of the file, and what follows any of these
 * results follows the last of them. So no path has a call without its result.
 */

import type { JsonValue } from "../../model/json.ts";

export interface TreePlace {
  /** The nearest entry above that moves the leaf; null for a new start. */
  readonly parent: string | null;
  /** False if the parent that was named is not known. */
  readonly found: boolean;
}

/** What a line is, as far as its place depends on it. */
export interface TreeLine {
  readonly uuid: string;
  /** Undefined if the line names none: then it follows the line before it in its chain. */
  readonly parentUuid: string | null | undefined;
  /** The entries that it becomes, in their order; none for a note. */
  readonly nodes: readonly string[];
  /** The conversation, or the sub-agent inside of the file, that it belongs to. */
  readonly chain: string;
  /** The id of the answer that the line is a part of. */
  readonly answer?: string | undefined;
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
}

/** An answer and the results of its calls. */
interface Group {
  readonly id: string;
  tail: string;
  /** Calls without a result yet. */
  readonly open: Set<string>;
}

interface Spot {
  readonly node: string | null;
  readonly group?: Group;
  /** Whether the spot is at a result: what follows it follows all results of the answer. */
  readonly isResult?: boolean;
}

/** The chain of the conversation itself. */
export const MAIN = "";

/** How many of the last lines, and of the places before a prompt, a later reading may build upon. */
const RECENT = 64;
const TURNS = 1000;

export class ClaudeTree {
  readonly #spots = new Map<string, Spot>();
  /** The spot of the last line of each chain. */
  readonly #last = new Map<string, Spot>();
  readonly #groups = new Map<string, Group>();
  /** The uuids of the last lines. */
  readonly #recent: string[] = [];
  /** The uuids that a prompt follows: going back to an earlier turn, the user goes on from there. */
  readonly #turns = new Set<string>();
  /** What an earlier reading has told: known, but not met in this one. */
  readonly #earlier = new Set<string>();

  has(uuid: string): boolean {
    return this.#spots.has(uuid) && !this.#earlier.has(uuid);
  }

  wasThere(uuid: string): boolean {
    return this.#earlier.has(uuid);
  }

  /** The entry at or before the line; undefined if the line is not known. */
  nodeAt(uuid: string): string | null | undefined {
    return this.#spots.get(uuid)?.node;
  }

  /** The last entry of a chain; null if it has none. */
  lastNode(chain: string): string | null {
    return this.#last.get(chain)?.node ?? null;
  }

  add(line: TreeLine): TreePlace {
    const { parentUuid, chain, nodes } = line;
    const named = typeof parentUuid === "string" ? this.#spots.get(parentUuid) : undefined;
    const before =
      parentUuid === null ? { node: null } : (named ?? this.#last.get(chain) ?? { node: null });
    const found = typeof parentUuid !== "string" || named !== undefined;
    const last = nodes.at(-1);
    if (last === undefined) {
      this.#note(line.uuid, chain, before);
      return { parent: before.node, found };
    }
    const { parent, spot } = this.#place(line, before, last);
    if (typeof parentUuid === "string" && line.answer === undefined) this.#noteTurn(parentUuid);
    this.#note(line.uuid, chain, spot);
    return { parent, found };
  }

  /** What names `uuid` as its parent from now on follows `node`. */
  redirect(uuid: string, node: string): void {
    this.#spots.set(uuid, { node });
  }

  #place(line: TreeLine, before: Spot, node: string): { parent: string | null; spot: Spot } {
    const { answer, calls = [], results = [] } = line;
    const group = answer === undefined ? before.group : this.#groups.get(answer);
    if (answer !== undefined) {
      const continues = group !== undefined && before.group === group;
      const own = continues ? group : { id: answer, tail: node, open: new Set<string>() };
      const parent = continues ? group.tail : follow(before);
      for (const call of calls) own.open.add(call);
      own.tail = node;
      this.#groups.set(answer, own);
      return { parent, spot: { node, group: own } };
    }
    if (group !== undefined && results.length > 0 && results.every((id) => group.open.has(id))) {
      const parent = group.tail;
      for (const id of results) group.open.delete(id);
      group.tail = node;
      return { parent, spot: { node, group, isResult: true } };
    }
    return { parent: follow(before), spot: { node } };
  }

  #note(uuid: string, chain: string, spot: Spot): void {
    this.#spots.set(uuid, spot);
    this.#earlier.delete(uuid);
    this.#last.set(chain, spot);
    this.#recent.push(uuid);
    if (this.#recent.length > 2 * RECENT) this.#recent.splice(0, RECENT);
  }

  #noteTurn(uuid: string): void {
    this.#turns.add(uuid);
    if (this.#turns.size > TURNS) {
      for (const first of this.#turns) {
        this.#turns.delete(first);
        break;
      }
    }
  }

  /** What a later reading of what follows needs. A few kilobytes, however long the file is. */
  state(): JsonValue {
    const uuids = new Set([...this.#turns, ...this.#recent.slice(-RECENT)]);
    const groups = new Set<Group>();
    const spots = [...uuids].flatMap((uuid): JsonValue[] => {
      const spot = this.#spots.get(uuid);
      if (spot === undefined) return [];
      if (spot.group === undefined || !this.#recent.includes(uuid, -RECENT)) {
        return [[uuid, spot.group === undefined ? spot.node : follow(spot)]];
      }
      groups.add(spot.group);
      return [[uuid, spot.node, spot.group.id, spot.isResult === true]];
    });
    return {
      ...{ spots, turns: [...this.#turns] },
      last: [...this.#last].slice(-RECENT).map(([chain, { node }]) => [chain, node]),
      groups: [...groups].map(({ id, tail, open }) => [id, tail, ...open]),
    };
  }

  static from(state: JsonValue | undefined): ClaudeTree {
    const tree = new ClaudeTree();
    const { spots, turns, last, groups } = (state ?? {}) as {
      readonly spots?: readonly (readonly [string, string | null, string?, boolean?])[];
      readonly turns?: readonly string[];
      readonly last?: readonly (readonly [string, string | null])[];
      readonly groups?: readonly (readonly [string, string, ...string[]])[];
    };
    for (const [id, tail, ...open] of groups ?? []) {
      tree.#groups.set(id, { id, tail, open: new Set(open) });
    }
    for (const [uuid, node, groupId, isResult = false] of spots ?? []) {
      const group = groupId === undefined ? undefined : tree.#groups.get(groupId);
      tree.#spots.set(uuid, group === undefined ? { node } : { node, group, isResult });
      tree.#earlier.add(uuid);
      tree.#recent.push(uuid);
    }
    for (const uuid of turns ?? []) tree.#turns.add(uuid);
    for (const [chain, node] of last ?? []) tree.#last.set(chain, { node });
    return tree;
  }
}

function follow(spot: Spot): string | null {
  return spot.isResult === true && spot.group !== undefined ? spot.group.tail : spot.node;
}
