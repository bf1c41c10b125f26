/**
 * The place of a line of Claude Code in our tree.
 *
 * There every line with a uuid is a node: a progress bar can be the parent of a message. Here a
 * line that does not move the leaf is an annotation of its parent's entry, and its children follow
 * that entry.
 *
 * Parallel calls of one answer fork the tree there: each result hangs on the line of its own call,
 * and only one of them is on the path. Here the lines of one answer and the results of its calls
 * are one chain, in file order, and a child of any of these results follows the last of them. So no
 * path has a call without its result.
 */

import type { JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS, KEPT_IDS } from "../batches.ts";

export interface TreePlace {
  /** The nearest ancestor that moves the leaf; null for a root. */
  readonly parent: string | null;
  /** False if the named parent is unknown. */
  readonly found: boolean;
  /** The conversation's first line in this file; it may continue another file. */
  readonly isFirst: boolean;
}

/** The properties of a line that determine its place. */
export interface TreeLine {
  readonly uuid: string;
  /** Null for a root, undefined if the line names none. */
  readonly parentUuid: string | null | undefined;
  /** Its entries, in order; none for an annotation. */
  readonly nodes: readonly string[];
  /** Its conversation, or its sub-agent inside the file. */
  readonly chain: string;
  /** The id of the line's answer. */
  readonly answer?: string | undefined;
  readonly calls?: readonly string[];
  readonly results?: readonly string[];
  /** Claude Code wrote it without a model call: it never switches branches. */
  readonly isSynthetic?: boolean;
}

/** An answer and the results of its calls. */
interface Group {
  readonly id: string;
  tail: string;
}

/** The entry at or before a line, null for none. One per line, so most are not objects. */
type Spot = string | null | AnswerSpot;

interface AnswerSpot {
  readonly node: string;
  readonly group: Group;
  /** Whether the spot is at a result: its children follow all results of the answer. */
  readonly isResult: boolean;
}

/** The chain of the conversation itself. */
export const MAIN = "";

/** The number of last lines, and of places before a prompt, that the resume state keeps. */
const RECENT = 64;
const TURNS = 1000;

/** Lines of one answer are close together, and few sub-agents work concurrently. */
const GROUPS = 1000;
const CHAINS = 10_000;

export class ClaudeTree {
  readonly #spots: RecentMap<string, Spot>;
  /** The last spot of each chain. */
  readonly #last = new RecentMap<string, Spot>(CHAINS);
  readonly #groups = new RecentMap<string, Group>(GROUPS);
  /** Calls without a result, by `keyOf`, with their answers. */
  readonly #open = new RecentMap<string, Group>(KEPT_CALLS);
  /** The uuids of the last lines. */
  readonly #recent: string[] = [];
  /** The uuids before prompts: a rewind continues from one of them. */
  readonly #turns = new RecentMap<string, true>(2 * TURNS);

  /** `limit` is the number of known lines; older ones count as missing. */
  constructor(limit: number = KEPT_IDS) {
    this.#spots = new RecentMap(limit);
  }

  /** How many lines, answers, calls and chains are known. */
  get size(): number {
    return this.#spots.size + this.#groups.size + this.#open.size + this.#last.size;
  }

  has(uuid: string): boolean {
    return this.#spots.has(uuid);
  }

  hasAnswer(id: string): boolean {
    return this.#groups.has(id);
  }

  /** The entry at or before the line; undefined if the line is unknown. */
  nodeAt(uuid: string): string | null | undefined {
    const spot = this.#spots.get(uuid);
    return spot === undefined ? undefined : nodeOf(spot);
  }

  /** The last entry of a chain; null if it has none. */
  lastNode(chain: string): string | null {
    return nodeOf(this.#last.get(chain) ?? null);
  }

  add(line: TreeLine): TreePlace {
    const { parentUuid, chain, nodes } = line;
    const named = typeof parentUuid === "string" ? this.#spots.get(parentUuid) : undefined;
    const found = typeof parentUuid !== "string" || named !== undefined;
    // A later root of the conversation, as after plan mode, attaches to its newest line. A root of
    // a sidechain is another sub-agent.
    const isNewStart = parentUuid === null && chain !== MAIN;
    const tip = isNewStart ? null : (this.#last.get(chain) ?? null);
    const before = named === undefined || (line.isSynthetic && tip !== null) ? tip : named;
    const isFirst = before === null && named === undefined && chain === MAIN;
    const last = nodes.at(-1);
    if (last === undefined) {
      this.#note(line.uuid, chain, before);
      return { parent: nodeOf(before), found, isFirst };
    }
    const { parent, spot } = this.#place(line, before, last);
    const isTurn = line.answer === undefined;
    if (isTurn && typeof parentUuid === "string") this.#turns.set(parentUuid, true);
    this.#note(line.uuid, chain, spot);
    return { parent, found, isFirst };
  }

  /** Later children of `uuid` follow `node`. */
  redirect(uuid: string, node: string): void {
    this.#spots.set(uuid, node);
  }

  #place(line: TreeLine, before: Spot, node: string): { parent: string | null; spot: Spot } {
    const { answer, calls = [], results = [] } = line;
    const group = answer === undefined ? groupOf(before) : this.#groups.get(answer);
    if (answer !== undefined) {
      const continues = group !== undefined && groupOf(before) === group;
      const own = continues ? group : { id: answer, tail: node };
      const parent = continues ? group.tail : follow(before);
      for (const call of calls) this.#open.set(keyOf(own, call), own);
      own.tail = node;
      this.#groups.set(answer, own);
      return { parent, spot: { node, group: own, isResult: false } };
    }
    const isAwaited = (id: string) => group !== undefined && this.#open.has(keyOf(group, id));
    if (group !== undefined && results.length > 0 && results.every(isAwaited)) {
      const parent = group.tail;
      for (const id of results) this.#open.delete(keyOf(group, id));
      group.tail = node;
      return { parent, spot: { node, group, isResult: true } };
    }
    return { parent: follow(before), spot: node };
  }

  #note(uuid: string, chain: string, spot: Spot): void {
    this.#spots.set(uuid, spot);
    this.#last.set(chain, spot);
    this.#recent.push(uuid);
    if (this.#recent.length > 2 * RECENT) this.#recent.splice(0, RECENT);
  }

  /** The resume state: a few kilobytes, however long the file. */
  state(): JsonValue {
    const turns = [...this.#turns.keys()].slice(-TURNS);
    const open = [...this.#open];
    const uuids = new Set([...turns, ...this.#recent.slice(-RECENT)]);
    const groups = new Set<Group>();
    const spots = [...uuids].flatMap((uuid): JsonValue[] => {
      const spot = this.#spots.get(uuid);
      if (spot === undefined) return [];
      if (!isInAnswer(spot) || !this.#recent.includes(uuid, -RECENT)) return [[uuid, follow(spot)]];
      groups.add(spot.group);
      return [[uuid, spot.node, spot.group.id, spot.isResult]];
    });
    return {
      spots,
      turns,
      last: [...this.#last].slice(-RECENT).map(([chain, spot]) => [chain, nodeOf(spot)]),
      groups: [...groups].map((group) => {
        const own = open.filter(([, owner]) => owner === group);
        const calls = own.map(([key]) => key.slice(keyOf(group, "").length));
        return [group.id, group.tail, ...calls];
      }),
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
      const group = { id, tail };
      tree.#groups.set(id, group);
      for (const call of open) tree.#open.set(keyOf(group, call), group);
    }
    for (const [uuid, node, groupId, isResult = false] of spots ?? []) {
      const group = groupId === undefined ? undefined : tree.#groups.get(groupId);
      const isPlain = group === undefined || node === null;
      tree.#spots.set(uuid, isPlain ? node : { node, group, isResult });
      tree.#recent.push(uuid);
    }
    for (const uuid of turns ?? []) tree.#turns.set(uuid, true);
    for (const [chain, node] of last ?? []) tree.#last.set(chain, node);
    return tree;
  }
}

/** Two answers may have a call of the same id, for example after a rewrite on another branch. */
function keyOf({ id }: Group, call: string): string {
  return `${id} ${call}`;
}

function isInAnswer(spot: Spot): spot is AnswerSpot {
  return typeof spot === "object" && spot !== null;
}

function nodeOf(spot: Spot): string | null {
  return isInAnswer(spot) ? spot.node : spot;
}

function groupOf(spot: Spot): Group | undefined {
  return isInAnswer(spot) ? spot.group : undefined;
}

/** The parent of the next entry after the spot. */
function follow(spot: Spot): string | null {
  return isInAnswer(spot) && spot.isResult ? spot.group.tail : nodeOf(spot);
}
