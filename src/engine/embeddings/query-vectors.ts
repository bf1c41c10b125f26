/**
 * Query vectors within a deadline: a search never waits long for an embedder.
 *
 * A late answer is cached (LRU) for the next equal query.
 */

import { pause } from "../../async/pause.ts";
import type { Embedder } from "../../model/embedder.ts";
import { messageOf } from "../../model/errors.ts";
import { parseQuery, type QueryMatch } from "../../search/query/parse-query.ts";
import { redact } from "../../secrets/redact.ts";

/** The size of the LRU cache. */
const MAX_KEPT = 256;
/** Longer queries are cut: sentence models read no more. */
const MAX_CHARACTERS = 2_000;

export type QueryVector =
  | { readonly vector: Float32Array }
  /** The reason for a missing vector, as a sentence. */
  | { readonly missing: string };

export class QueryVectors {
  readonly #embedder: Embedder;
  readonly #deadlineMs: number;
  readonly #kept = new Map<string, Promise<Float32Array>>();

  constructor(embedder: Embedder, deadlineMs: number) {
    this.#embedder = embedder;
    this.#deadlineMs = deadlineMs;
  }

  async find(text: string): Promise<QueryVector> {
    const vector = this.#vector(redact(text).text);
    const stop = new AbortController();
    const late = pause(this.#deadlineMs, stop.signal).then(() => "late" as const);
    try {
      const found = await Promise.race([vector, late]);
      if (found !== "late") return { vector: found };
      return { missing: `the embedder did not answer within ${this.#deadlineMs} ms` };
    } catch (error) {
      return { missing: messageOf(error) };
    } finally {
      stop.abort();
    }
  }

  #vector(text: string): Promise<Float32Array> {
    const known = this.#kept.get(text);
    this.#kept.delete(text);
    const vector = known ?? this.#embed(text);
    this.#kept.set(text, vector);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return vector;
  }

  #embed(text: string): Promise<Float32Array> {
    const vector = this.#embedder.embed([text]).then(([first]) => first as Float32Array);
    // A failure rejects the waiting callers; the next call retries.
    vector.catch(() => this.#kept.delete(text));
    return vector;
  }
}

/** The text of a query to embed: its words, without filters and excluded words. */
export function textOfQuery(query: string, match: QueryMatch, now: number): string {
  if (match === "words") return query.slice(0, MAX_CHARACTERS).trim();
  const { required, optional } = parseQuery(query, { now, match });
  const words = [...required.flat(), ...optional].map(({ text }) => text);
  return words.join(" ").slice(0, MAX_CHARACTERS).trim();
}
