/** Required and excluded terms of a message. */

import { CHUNK_DOCUMENTS, MESSAGE_FIELDS, type MessageField } from "../../index/layout.ts";
import { placeOf, type TermList } from "../../index/lists/term-list.ts";
import type { FoundTerm, Source } from "../../index/source.ts";
import type { Condition } from "../../query/query.ts";
import { joinLists } from "../query-terms.ts";

/** The limit of terms for a prefix. */
export const MAX_EXPANSIONS = 256;

/** The conditions of a query in one chunk of one source. */
export interface ChunkConditions {
  /** Lists of which every hit must be in one; null: hits may be anywhere. */
  readonly drivers: readonly TermList[] | null;
  readonly holds: (document: number) => boolean;
}

/** Undefined if a blob is missing. Null: no message of the chunk can be a hit. */
export function chunkConditions(
  source: Source,
  chunk: number,
  required: readonly (readonly Condition[])[],
  excluded: readonly Condition[],
  fields: readonly MessageField[] = MESSAGE_FIELDS,
): ChunkConditions | null | undefined {
  const groups = required.map((group) => compileAll(source, chunk, group, fields));
  const barred = compileAll(source, chunk, excluded, fields);
  if (groups.includes(undefined) || barred === undefined) return undefined;
  const needed = groups as Compiled[][];
  if (needed.some((group) => group.length === 0)) return null;
  let drivers: readonly TermList[] | null = null;
  for (const group of needed) {
    const lists = group.map(({ driver }) => driver);
    if (drivers === null || size(lists) < size(drivers)) drivers = lists;
  }
  const holds = (document: number) =>
    needed.every((group) => group.some((condition) => condition.holds(document))) &&
    !barred.some((condition) => condition.holds(document));
  return { drivers, holds };
}

/** One condition in one field of one chunk. */
interface Compiled {
  /** A superset of the messages that meet the condition. */
  readonly driver: TermList;
  readonly holds: (document: number) => boolean;
}

/** The conditions that some message of the chunk may meet, in its text or outputs. */
function compileAll(
  source: Source,
  chunk: number,
  conditions: readonly Condition[],
  fields: readonly MessageField[],
): Compiled[] | undefined {
  const compiled = conditions.flatMap((condition) => {
    const own = condition.kind === "phrase" ? condition.field : undefined;
    return (own === undefined ? fields : [own]).map((field) =>
      compile(source, chunk, condition, field),
    );
  });
  if (compiled.includes(undefined)) return undefined;
  return compiled.filter((each) => each !== null && each !== undefined);
}

/** Undefined if a blob is missing. Null: no message of the chunk meets it. */
function compile(
  source: Source,
  chunk: number,
  condition: Condition,
  field: MessageField,
): Compiled | null | undefined {
  if (condition.kind === "prefix") {
    const terms = source.termsWithPrefix(field, condition.prefix, MAX_EXPANSIONS);
    const found = terms?.map((term) => source.findTerm(field, term));
    const list = found && joinLists(found.map((each) => listIn(each, chunk)));
    return list && { driver: list, holds: (document) => contains(list, document) };
  }
  const words: readonly (string | null)[] = condition.terms;
  const terms = [...new Set(words.filter((term): term is string => term !== null))];
  const found = terms.map((term) => source.findTerm(field, term));
  const lists = found.map((each) => listIn(each, chunk));
  if (lists.includes(undefined)) return undefined;
  // The rarest first: it drives, and the next ones reject most documents.
  const present = lists
    .filter((list) => list !== null && list !== undefined)
    .sort((a, b) => a.count - b.count);
  const [driver] = present;
  if (present.length < terms.length || driver === undefined) return null;
  const hasAll = (document: number) => present.every((list) => contains(list, document));
  if (condition.kind === "terms") return { driver, holds: hasAll };
  const byTerm = new Map(terms.map((term, i) => [term, found[i] as FoundTerm]));
  const base = chunk * CHUNK_DOCUMENTS;
  return {
    driver,
    holds: (document) => hasAll(document) && hasPhrase(words, byTerm, base + document),
  };
}

/** Whether the words are adjacent. A missing blob makes the attempt run again. */
function hasPhrase(
  words: readonly (string | null)[],
  found: ReadonlyMap<string, FoundTerm>,
  document: number,
): boolean {
  let starts: readonly number[] | undefined;
  for (const [i, word] of words.entries()) {
    if (word === null) continue;
    const positions = found.get(word)?.positions(document) ?? [];
    starts = starts === undefined ? positions : startsBefore(starts, positions, i);
    if (starts.length === 0) return false;
  }
  return true;
}

/** The starts that have a position `distance` after them; both ascend. */
function startsBefore(
  starts: readonly number[],
  positions: readonly number[],
  distance: number,
): readonly number[] {
  const kept: number[] = [];
  let at = 0;
  for (const start of starts) {
    while (at < positions.length && (positions[at] as number) < start + distance) at++;
    if (positions[at] === start + distance) kept.push(start);
  }
  return kept;
}

function listIn(found: FoundTerm | null | undefined, chunk: number): TermList | null | undefined {
  return found === null ? null : found?.list(chunk);
}

function contains(list: TermList, document: number): boolean {
  return placeOf(list, document) >= 0;
}

function size(lists: readonly TermList[]): number {
  return lists.reduce((total, list) => total + list.count, 0);
}
