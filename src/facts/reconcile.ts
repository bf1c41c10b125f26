/**
 * Reconciles proposals with the current facts: known facts are not added again, and a changed
 * object supersedes the old fact, which stays as history.
 */

import type { Fact } from "../model/note.ts";
import type { PreparedFact } from "./prepare-facts.ts";

/** A current fact, with the compared fields. */
export type HeldFact = Pick<Fact, "id" | "subject" | "predicate" | "object">;

interface AddedFact extends Omit<PreparedFact, "many"> {
  readonly id: string;
  /** Superseded facts, including added ones. */
  readonly supersedes: readonly string[];
}

interface Reconciliation {
  /** In order: a later one may supersede an earlier one. */
  readonly added: readonly AddedFact[];
  readonly duplicates: number;
  /** Proposals that contradict a current fact without a citation; they replace nothing. */
  readonly unsupported: number;
  /** Whether the subject and predicate of this key have several objects. */
  readonly isMany: (key: string) => boolean;
}

/**
 * A subject and predicate have one object, unless a proposal allows many or several exist already.
 * Idempotent.
 */
export function reconcileFacts(
  proposed: readonly PreparedFact[],
  held: readonly HeldFact[],
  newId: () => string,
): Reconciliation {
  const values = valuesOf(held);
  const many = manyKeys(proposed, values);
  const last = lastObjects(proposed);
  const isSettled = (key: string) => !many.has(key) && values.get(key)?.has(last.get(key) ?? "");
  const settled = new Set([...last.keys()].filter(isSettled));
  const added: AddedFact[] = [];
  let duplicates = 0;
  let unsupported = 0;
  for (const { many: _, ...fact } of proposed) {
    const key = keyOf(fact);
    const object = normalize(fact.object);
    const objects = values.get(key) ?? new Map<string, readonly string[]>();
    const supersedes = many.has(key) ? [] : [...objects.values()].flat();
    // The final proposal already holds: intermediate ones are dropped.
    if (settled.has(key) || objects.has(object)) duplicates++;
    else if (supersedes.length > 0 && fact.sourceEntry === null) unsupported++;
    else {
      const id = newId();
      added.push({ ...fact, id, supersedes });
      if (!many.has(key)) objects.clear();
      values.set(key, objects.set(object, [id]));
    }
  }
  return { added, duplicates, unsupported, isMany: (key) => many.has(key) };
}

/** The key of subject and predicate, ignoring case and spaces. */
export function keyOf({ subject, predicate }: Pick<Fact, "subject" | "predicate">): string {
  return `${normalize(subject)}\0${normalize(predicate.replaceAll(/[_-]/g, " "))}`;
}

export function normalize(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();
}

/** Facts by key and object: a host may have added one twice. */
function valuesOf(held: readonly HeldFact[]): Map<string, Map<string, readonly string[]>> {
  const values = new Map<string, Map<string, readonly string[]>>();
  for (const fact of held) {
    const key = keyOf(fact);
    const objects = values.get(key) ?? new Map<string, readonly string[]>();
    const object = normalize(fact.object);
    values.set(key, objects.set(object, [...(objects.get(object) ?? []), fact.id]));
  }
  return values;
}

/** The last proposed objects by key. Proposals without a citation count only if none has one. */
function lastObjects(proposed: readonly PreparedFact[]): Map<string, string> {
  const uncitedFirst = [
    ...proposed.filter(({ sourceEntry }) => sourceEntry === null),
    ...proposed.filter(({ sourceEntry }) => sourceEntry !== null),
  ];
  return new Map(uncitedFirst.map((fact) => [keyOf(fact), normalize(fact.object)]));
}

function manyKeys(
  proposed: readonly PreparedFact[],
  values: ReadonlyMap<string, ReadonlyMap<string, unknown>>,
): Set<string> {
  const said = proposed.filter(({ many }) => many).map(keyOf);
  const there = [...values].filter(([, objects]) => objects.size > 1).map(([key]) => key);
  return new Set([...said, ...there]);
}

/**
 * Conflict resolution, last writer wins by id: two processes that extract facts concurrently may
 * both add the same fact, or two that contradict each other. The process that reads last sees both
 * and supersedes one.
 *
 * The greater id always wins, so any number of processes agree, and no two facts supersede each
 * other.
 */

export interface Retirement {
  readonly id: string;
  readonly by: string;
}

/**
 * `added` are ours; `held` are the current facts, ours and others'; `seen` are those that ours were
 * reconciled with, and `isMany` tells whether several objects may hold.
 */
export function settleFacts(
  added: readonly HeldFact[],
  held: readonly HeldFact[],
  seen: ReadonlySet<string>,
  isMany: (key: string) => boolean,
): readonly Retirement[] {
  const ours = new Set(added.map(({ id }) => id));
  const still = held.filter(({ id }) => ours.has(id));
  const others = held.filter(({ id }) => !ours.has(id) && !seen.has(id));
  const retired = new Map<string, string>();
  for (const own of still) {
    for (const other of others) {
      const key = keyOf(own);
      if (key !== keyOf(other)) continue;
      if (isMany(key) && normalize(own.object) !== normalize(other.object)) continue;
      const [lesser, greater] = own.id < other.id ? [own.id, other.id] : [other.id, own.id];
      retired.set(lesser, greater);
    }
  }
  return [...retired].map(([id, by]) => ({ id, by }));
}

/** A fact with the time of its statement. */
export interface DatedFact extends HeldFact {
  readonly sessionId: string;
  readonly saidAt: number;
}

/**
 * Facts of one owner across sessions: of two that differ in the object alone, the one that was said
 * later holds. `added` are of one session, `others` the current facts of the owner's other ones. The
 * same statement in two sessions is kept in both: each is deleted with its own session.
 */
export function settleAcross(
  added: readonly DatedFact[],
  others: readonly DatedFact[],
  isMany: (key: string) => boolean,
): readonly Retirement[] {
  const retired = new Map<string, string>();
  for (const [key, rivals] of Map.groupBy(others, keyOf)) {
    const sessions = [...Map.groupBy(rivals, ({ sessionId }) => sessionId).values()];
    if (isMany(key) || sessions.some((facts) => valuesOf(facts).get(key)?.size !== 1)) continue;
    for (const own of added) {
      if (keyOf(own) !== key) continue;
      const differing = rivals.filter(({ object }) => normalize(object) !== normalize(own.object));
      for (const other of differing.toSorted((a, b) => a.saidAt - b.saidAt)) {
        if (other.saidAt > own.saidAt) retired.set(own.id, other.id);
        else retired.set(other.id, own.id);
      }
    }
  }
  return [...retired].map(([id, by]) => ({ id, by }));
}
