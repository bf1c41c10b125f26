/**
 * Attaches a model call's usage to the last message of its answer.
 *
 * Codex reports it in an event after the answer and often after the results of its calls, so
 * entries are held back until it comes. The event repeats when only a rate limit changed: its
 * totals equal the previous event's, and it is ignored.
 */

import { lengthOfBlocks } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import { countField, type Fields } from "../fields.ts";
import type { ImportedEntry } from "../source.ts";

/** The limits of held entries and their characters. */
const HELD = 256;
const HELD_LENGTH = 4 * 1024 * 1024;

export class CodexUsage {
  #held: ImportedEntry[] = [];
  #length = 0;
  /** The last event's totals. */
  #total: Counts | undefined;

  constructor(state?: JsonValue) {
    if (isPlainObject(state)) this.#total = readCounts(state);
  }

  state(): JsonValue {
    return this.#total === undefined ? null : { ...this.#total };
  }

  /** Takes an entry, and gives the entries to release. */
  add(entry: ImportedEntry, given: ImportedEntry[]): void {
    this.#held.push(entry);
    this.#length += lengthOfBlocks(entry.blocks);
    if (this.#held.length > HELD || this.#length > HELD_LENGTH) given.push(...this.end());
  }

  /** Releases everything. */
  end(): ImportedEntry[] {
    const held = this.#held;
    this.#held = [];
    this.#length = 0;
    return held;
  }

  /**
   * Processes an event. Returns its usage if no answer is held to attach it to. `counts` is false
   * for another session's events.
   */
  report(info: unknown, counts: boolean): Usage | undefined {
    if (!isPlainObject(info)) return undefined;
    const { total_token_usage: whole, last_token_usage: newest } = info;
    const total = isPlainObject(whole) ? readCounts(whole) : undefined;
    const before = this.#total;
    if (total !== undefined && before !== undefined && isSame(total, before)) return undefined;
    this.#total = total ?? before;
    const last = isPlainObject(newest)
      ? readCounts(newest)
      : total === undefined
        ? undefined
        : minus(total, before);
    const usage = last === undefined ? undefined : toUsage(last);
    if (usage === undefined || !counts) return undefined;
    const at = this.#held.findLastIndex(
      ({ role, usage: told }) => role === "assistant" && told === null,
    );
    const entry = this.#held[at];
    if (entry === undefined) return usage;
    this.#held[at] = { ...entry, usage };
    return undefined;
  }
}

interface Counts {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_input_tokens: number;
  readonly output_tokens: number;
}

const NAMES = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
] as readonly (keyof Counts)[];

function readCounts(fields: Fields): Counts {
  return toCounts((name) => countField(fields, name) ?? 0);
}

function isSame(a: Counts, b: Counts): boolean {
  return NAMES.every((name) => a[name] === b[name]);
}

function minus(a: Counts, b: Counts | undefined): Counts {
  return toCounts((name) => Math.max(0, a[name] - (b?.[name] ?? 0)));
}

function toCounts(count: (name: keyof Counts) => number): Counts {
  return Object.fromEntries(NAMES.map((name) => [name, count(name)])) as unknown as Counts;
}

/** There, cached tokens are part of the input. */
function toUsage(counts: Counts): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = counts;
  if (input + output === 0) return undefined;
  const read = Math.min(counts.cached_input_tokens, input);
  const written = Math.min(counts.cache_write_input_tokens, input - read);
  return {
    inputTokens: input - read - written,
    outputTokens: output,
    cacheCreationTokens: written,
    cacheReadTokens: read,
  };
}
