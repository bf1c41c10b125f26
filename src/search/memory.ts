/** What a process remembers between searches. */

import type { IndexingOptions } from "./index/add-feed.ts";
import { DEFAULT_CACHE_BYTES, IndexCache } from "./index/index-cache.ts";
import type { Liveness } from "./index/liveness.ts";
import type { SessionPath } from "./port.ts";
import type { Tail } from "./tail.ts";

export interface SearchMemoryOptions {
  readonly indexing: IndexingOptions;
  readonly cacheBytes?: number;
  /** Milliseconds, for deadlines. */
  readonly clock: () => number;
}

/** Of all tenants: segments are never changed, and no two have the same number. */
export class SearchMemory {
  readonly #options: SearchMemoryOptions;
  readonly #cache: IndexCache;
  readonly #tenants = new Map<string, TenantMemory>();

  constructor(options: SearchMemoryOptions) {
    this.#options = options;
    this.#cache = new IndexCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  tenant(name: string): TenantMemory {
    const known = this.#tenants.get(name);
    // The last one asked for is the last in order, so the first is the one to forget.
    this.#tenants.delete(name);
    const memory = known ?? new TenantMemory(this.#cache, this.#options);
    this.#tenants.set(name, memory);
    const [oldest] = this.#tenants.keys();
    if (this.#tenants.size > MAX_TENANTS && oldest !== undefined) this.#tenants.delete(oldest);
    return memory;
  }
}

/** A tail is a few megabytes at most. */
const MAX_TENANTS = 32;
/** Paths of sessions that are remembered. */
const MAX_PATHS = 50_000;

export class TenantMemory {
  readonly cache: IndexCache;
  readonly indexing: IndexingOptions;
  readonly clock: () => number;
  tail: Tail | undefined;
  /** What counts in each source, and for which state of the index that was found out. */
  liveness: { readonly key: string; readonly value: readonly Liveness[] } | undefined;
  /** Active paths, as of position `seen` of the feed. */
  readonly #paths = new Map<number, SessionPath>();
  #seen = 0;

  constructor(cache: IndexCache, { indexing, clock }: SearchMemoryOptions) {
    this.cache = cache;
    this.indexing = indexing;
    this.clock = clock;
  }

  path(session: number): SessionPath | undefined {
    return this.#paths.get(session);
  }

  rememberPaths(paths: readonly SessionPath[]): void {
    if (this.#paths.size + paths.length > MAX_PATHS) this.#paths.clear();
    for (const path of paths) this.#paths.set(path.session, path);
  }

  /** The feed was read from `after` to `through`: `touched` may have other paths now. */
  forgetPaths(after: number, through: number, touched: readonly number[]): void {
    if (after > this.#seen) this.#paths.clear();
    for (const session of touched) this.#paths.delete(session);
    this.#seen = Math.max(this.#seen, through);
  }
}
