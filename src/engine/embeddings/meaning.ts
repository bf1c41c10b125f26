/** The parts of a process with an embedder: query vectors, and the keeper of message vectors. */

import { pause } from "../../async/pause.ts";
import { messageOf } from "../../model/errors.ts";
import type { Embedder } from "../../model/models.ts";
import { parseQuery, type QueryMatch } from "../../search/query/parse-query.ts";
import { BY_WORDS_ONLY, type MeaningQuery } from "../../search/request.ts";
import { redact } from "../../secrets/redact.ts";
import type { Store } from "../../store/store.ts";
import { type KeeperOptions, VectorKeeper } from "./vector-keeper.ts";

/** The deadline of a query's vector. */
export const EMBED_DEADLINE_MS = 150;

/**
 * Minimum cosine of a message that shares no word with the query. Unrelated sentences have
 * cosines of about 0.1 with most models; some models have higher ones throughout.
 */
const FLOOR = 0.25;

interface MeaningOptions extends Omit<KeeperOptions, "heads" | "onVectors"> {
  readonly deadlineMs: number;
  /** Absent for a store that is only read. */
  readonly heads: ReadonlyMap<string, number> | undefined;
}

export type FoundMeaning = { readonly meaning?: MeaningQuery; readonly note?: string };

export class Meaning {
  readonly embedder: Embedder;
  readonly #store: Store;
  readonly #queries: QueryVectors;
  readonly #keeper: VectorKeeper | undefined;
  /** Tenants with vectors: queries of others are not embedded. */
  readonly #known = new Set<string>();

  constructor({ heads, deadlineMs, ...options }: MeaningOptions) {
    this.embedder = options.embedder;
    this.#store = options.store;
    this.#queries = new QueryVectors(options.embedder, deadlineMs);
    this.#keeper =
      heads === undefined
        ? undefined
        : new VectorKeeper({ ...options, heads, onVectors: (tenant) => this.hasVectors(tenant) });
  }

  /** Records that a tenant has vectors; its queries are embedded from now on. */
  hasVectors(tenant: string): void {
    this.#known.add(tenant);
  }

  watch(tenant: string): void {
    this.#keeper?.watch(tenant);
  }

  /** The vector of a query if there are vectors to compare; else the reason. */
  async ofQuery(
    tenant: string,
    query: string,
    match: QueryMatch,
    now: number,
  ): Promise<FoundMeaning> {
    const text = textOfQuery(query, match, now);
    if (text === "" || !(await this.#looksForVectors(tenant))) return {};
    const found = await this.#queries.find(text);
    if ("missing" in found) return { note: `${BY_WORDS_ONLY}: ${found.missing}.` };
    return { meaning: { embedder: this.embedder.name, vector: found.vector, floor: FLOOR } };
  }

  async close(): Promise<void> {
    await this.#keeper?.close();
  }

  async #looksForVectors(tenant: string): Promise<boolean> {
    if (this.#known.has(tenant)) return true;
    const { vectors } = await this.#store.indexStatus(tenant);
    const has = vectors !== null && vectors.vectors > 0;
    if (has) this.#known.add(tenant);
    return has;
  }
}

/**
 * Query vectors within a deadline: a search never waits long for an embedder.
 *
 * A late answer is cached (LRU) for the next equal query.
 */

/** The size of the LRU cache. */
const MAX_KEPT = 256;
/** Longer queries are cut: sentence models read no more. */
const MAX_CHARACTERS = 2_000;

type QueryVector =
  | { readonly vector: Float32Array }
  /** The reason for a missing vector, as a sentence. */
  | { readonly missing: string };

class QueryVectors {
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
function textOfQuery(query: string, match: QueryMatch, now: number): string {
  if (match === "words") return query.slice(0, MAX_CHARACTERS).trim();
  const { required, optional } = parseQuery(query, { now, match });
  const words = [...required.flat(), ...optional].map(({ text }) => text);
  return words.join(" ").slice(0, MAX_CHARACTERS).trim();
}
