/** The usage of imported entries: of answers in several parts, of new versions, and of caches. */

import type { ImportedEntry } from "../../ingest/source.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { combineUsage, totalTokens } from "../../model/prices.ts";
import { HOUR_CACHE_KEY } from "../../model/session.ts";
import type { NewEntry } from "../../store/records.ts";
import { knownName } from "./import-draft.ts";
import type { PendingEntry } from "./imported-id.ts";

/** Parts of an answer are close together. */
const KEPT_ANSWERS = 64;

/**
 * Distributes an answer's usage over parts that were stored at different times.
 *
 * A reader puts an answer's usage on its last part. If only the first parts existed then, they were
 * stored with the usage so far, and entries are immutable. So a later part gets the remainder.
 */
export class AnswerUsage {
  /** By answer: stored minus read usage; may be negative. */
  readonly #ahead: Map<string, Usage>;

  constructor(earlier?: AnswerUsage) {
    this.#ahead = new Map(earlier === undefined ? [] : earlier.#ahead);
  }

  /** Records a stored part: `stored` usage, where the reader has `read`. */
  found(answer: string, read: Usage | null, stored: Usage | null): void {
    const more = combineUsage(stored ?? NOTHING, read ?? NOTHING, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(this.#ahead.get(answer) ?? NOTHING, more, (a, b) => a + b),
    );
  }

  /** The usage that a new part is stored with. */
  take(answer: string, read: Usage | null): Usage | null {
    const ahead = this.#ahead.get(answer);
    if (ahead === undefined || read === null) return read;
    const usage = combineUsage(read, ahead, (count, before) => Math.max(0, count - before));
    const told = combineUsage(usage, read, (a, b) => a - b);
    this.#set(
      answer,
      combineUsage(ahead, told, (a, b) => a + b),
    );
    return totalTokens(usage) > 0 ? usage : null;
  }

  #set(answer: string, ahead: Usage): void {
    this.#ahead.delete(answer);
    this.#ahead.set(answer, ahead);
    const [first] = this.#ahead.keys();
    if (this.#ahead.size > KEPT_ANSWERS && first !== undefined) this.#ahead.delete(first);
  }
}

const NOTHING: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
};

/** A new part of an answer, with the usage that no stored part has. */
export function withRemainder(entry: ImportedEntry, answers: AnswerUsage): ImportedEntry {
  if (entry.answer === undefined || entry.usage === null) return entry;
  const usage = answers.take(entry.answer, entry.usage);
  return usage === entry.usage ? entry : { ...entry, usage };
}

/** The usage of a new version: what the stored ones do not count yet. Parts of an answer share it. */
export function usageBeyond(
  { answer }: ImportedEntry,
  read: Usage | null,
  stored: Usage | null,
): Usage | null {
  if (read === null || stored === null) return answer === undefined ? read : null;
  const more = combineUsage(read, stored, (a, b) => Math.max(0, a - b));
  return answer === undefined && totalTokens(more) > 0 ? more : null;
}

/**
 * Sums the tokens that imported calls wrote to caches of an hour, by model, for the session's
 * metadata: an entry's usage has no column for them.
 */
export class HourTokens {
  readonly #stored = new Map<string, number>();
  readonly #read = new Map<string, number>();

  /** The metadata of a new session with all of these entries. */
  static sumOf(entries: readonly ImportedEntry[]): JsonObject {
    const all = new HourTokens();
    all.note(
      entries.map((entry) => ({ entry, id: "" })),
      [],
    );
    return all.patch({});
  }

  /** Counts a batch; `drafts` are those of its entries that were stored just now. */
  note(batch: readonly PendingEntry[], drafts: readonly NewEntry[]): void {
    for (const { entry, id } of batch) {
      if (!(HOUR_CACHE_KEY in entry.metadata) || entry.copiedFrom !== undefined) continue;
      add(this.#read, entry, entry.usage);
      const draft = drafts.find((each) => each.id === id);
      if (draft !== undefined) add(this.#stored, entry, draft.usage);
    }
  }

  /** The change of the session's metadata; empty if there is none. */
  patch(metadata: JsonObject): JsonObject {
    const before = isPlainObject(metadata[HOUR_CACHE_KEY]) ? metadata[HOUR_CACHE_KEY] : {};
    const sums = { ...before };
    for (const [model, read] of this.#read) {
      const known = Object.hasOwn(before, model) ? Number(before[model]) : 0;
      // An interrupted import, or an earlier version, may have stored calls without their sum.
      sums[model] = Math.max(known + (this.#stored.get(model) ?? 0), read);
    }
    const isSame = Object.entries(sums).every(([model, sum]) => before[model] === sum);
    return isSame ? {} : { [HOUR_CACHE_KEY]: sums };
  }
}

/** Each line of an answer tells the number; the one that has the usage counts. */
function add(sums: Map<string, number>, entry: ImportedEntry, usage: Usage | null): void {
  const told = Number(entry.metadata[HOUR_CACHE_KEY]);
  const tokens = Math.min(told, usage?.cacheCreationTokens ?? 0);
  const model = knownName(entry.model) ?? "";
  if (tokens > 0) sums.set(model, (sums.get(model) ?? 0) + tokens);
}
