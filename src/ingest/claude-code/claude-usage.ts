/**
 * A sliding window that attaches an answer's usage to one entry.
 *
 * Claude Code writes a line per block of an answer, and each repeats the usage so far: the first
 * lines have few output tokens, the last has all. So the figure moves to the newest line of its
 * answer while earlier ones are held back, a few lines at a time. A line after their release gets
 * only the remainder.
 */

import { lengthOfBlocks } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { combineUsage, totalTokens } from "../../model/prices.ts";
import { HOUR_CACHE_KEY } from "../../model/session.ts";
import { countField, type Writable } from "../fields.ts";
import type { ImportedEntry } from "../source.ts";

/** Fields of the source's usage that ours has. */
export const USAGE_FIELDS: readonly string[] = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
];

/** Null without usage: synthetic messages of Claude Code have zeros. */
export function toUsage(usage: unknown): Usage | null {
  if (!isPlainObject(usage)) return null;
  const counts: Usage = {
    inputTokens: countField(usage, "input_tokens") ?? 0,
    outputTokens: countField(usage, "output_tokens") ?? 0,
    cacheCreationTokens: countField(usage, "cache_creation_input_tokens") ?? 0,
    cacheReadTokens: countField(usage, "cache_read_input_tokens") ?? 0,
  };
  return totalTokens(counts) > 0 ? counts : null;
}

/** The metadata of a call that wrote to a cache of an hour. */
export function hourTokensOf(usage: unknown): JsonObject {
  const written = isPlainObject(usage) ? usage["cache_creation"] : undefined;
  const hour = isPlainObject(written) ? countField(written, "ephemeral_1h_input_tokens") : 0;
  return hour ? { [HOUR_CACHE_KEY]: hour } : {};
}

/** The limits of held entries and their characters. */
const HELD = 64;
const HELD_LENGTH = 4 * 1024 * 1024;
/** The number of released answers whose figures are kept. */
const GIVEN = 32;

type Taken = Writable<ImportedEntry>;

interface Held {
  readonly entry: Taken;
  readonly answer: string | undefined;
  readonly length: number;
}

export class UsageWindow {
  /** Released entries are before `#first` until a batch of them is removed. */
  readonly #held: (Held | undefined)[] = [];
  #first = 0;
  #length = 0;
  /** The reported usage of each answer. */
  readonly #given: Map<string, Usage>;

  constructor(state?: JsonValue) {
    this.#given = new Map((state ?? []) as unknown as [string, Usage][]);
  }

  /**
   * Takes an entry, whose usage is changed in place, and gives the entries to release. `answer` is
   * the answer's id.
   */
  add(entry: ImportedEntry, answer?: string, given: ImportedEntry[] = []): ImportedEntry[] {
    if (answer !== undefined) this.#takeWhole(entry, answer);
    const length = lengthOfBlocks(entry.blocks);
    this.#held.push({ entry, answer, length });
    this.#length += length;
    while (this.#count > HELD || (this.#length > HELD_LENGTH && this.#count > 1)) {
      this.#release(given);
    }
    return given;
  }

  /** Releases everything. */
  end(): ImportedEntry[] {
    const given: ImportedEntry[] = [];
    while (this.#count > 0) this.#release(given);
    return given;
  }

  get #count(): number {
    return this.#held.length - this.#first;
  }

  /** Valid after `end`. */
  state(): JsonValue {
    return [...this.#given] as unknown as JsonValue;
  }

  /** Gives the entry the highest figures of its answer, and removes them from the earlier line. */
  #takeWhole(entry: Taken, answer: string): void {
    const earlier = this.#newestWithUsage(answer);
    if (earlier !== undefined) {
      entry.usage = highest(earlier.entry.usage, entry.usage);
      earlier.entry.usage = null;
      return;
    }
    const given = this.#given.get(answer);
    if (given !== undefined && entry.usage !== null) entry.usage = difference(entry.usage, given);
  }

  /** Lines of one answer are close together: usually it is the last. */
  #newestWithUsage(answer: string): Held | undefined {
    for (let i = this.#held.length - 1; i >= this.#first; i--) {
      const held = this.#held[i];
      if (held?.answer === answer && held.entry.usage !== null) return held;
    }
    return undefined;
  }

  #release(into: ImportedEntry[]): void {
    const held = this.#held[this.#first];
    if (held === undefined) return;
    this.#held[this.#first++] = undefined;
    if (this.#first > HELD) this.#first -= this.#held.splice(0, this.#first).length;
    this.#length -= held.length;
    const { entry, answer } = held;
    if (answer !== undefined && entry.usage !== null) this.#remember(answer, entry.usage);
    into.push(entry);
  }

  #remember(answer: string, usage: Usage): void {
    const given = this.#given.get(answer);
    this.#given.delete(answer);
    this.#given.set(
      answer,
      given === undefined ? usage : combineUsage(given, usage, (a, b) => a + b),
    );
    const [first] = this.#given.keys();
    if (this.#given.size > GIVEN && first !== undefined) this.#given.delete(first);
  }
}

function highest(a: Usage | null, b: Usage | null): Usage | null {
  return a === null || b === null ? (a ?? b) : combineUsage(a, b, Math.max);
}

function difference(usage: Usage, given: Usage): Usage | null {
  const more = combineUsage(usage, given, (now, before) => Math.max(0, now - before));
  return totalTokens(more) > 0 ? more : null;
}
