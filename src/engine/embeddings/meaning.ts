/** The parts of a process with an embedder: query vectors, and the keeper of message vectors. */

import type { Embedder } from "../../model/embedder.ts";
import type { QueryMatch } from "../../search/query/parse-query.ts";
import { BY_WORDS_ONLY, type MeaningQuery } from "../../search/request.ts";
import type { Store } from "../../store/store.ts";
import { QueryVectors, textOfQuery } from "./query-vectors.ts";
import { type KeeperOptions, VectorKeeper } from "./vector-keeper.ts";

/** The deadline of a query's vector. */
export const EMBED_DEADLINE_MS = 150;

/**
 * Minimum cosine of a message that shares no word with the query. Unrelated sentences have
 * cosines of about 0.1 with most models; some models have higher ones throughout.
 */
const FLOOR = 0.25;

export interface MeaningOptions extends Omit<KeeperOptions, "heads" | "onVectors"> {
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
