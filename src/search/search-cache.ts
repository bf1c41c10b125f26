/** A process's caches between searches: an LRU of tenants, and a shared index cache. */

import { filtersOf } from "../model/session-filters.ts";
import { HeadCache } from "./head-cache.ts";
import type { IndexingOptions } from "./index/add-feed.ts";
import { DEFAULT_CACHE_BYTES, IndexCache } from "./index/index-cache.ts";
import type { Liveness } from "./index/liveness.ts";
import type { FeedSlice, SessionPath, WindowHead } from "./port.ts";
import { ScopeCache } from "./scope-cache.ts";
import type { Tail } from "./tail.ts";
import { VectorCache } from "./vectors/vector-cache.ts";

export interface SearchCacheOptions {
  readonly indexing: IndexingOptions;
  readonly cacheBytes?: number;
  /** Milliseconds, for deadlines. */
  readonly clock: () => number;
  /** This many caches share the memory of one. */
  readonly sharing?: number;
}

/** Shared by all tenants: segments are immutable, and their numbers are unique. */
export class SearchCache {
  readonly #options: SearchCacheOptions;
  readonly #cache: IndexCache;
  readonly #vectors = new VectorCache();
  readonly #tenants = new Map<string, TenantCache>();
  readonly #maxTenants: number;

  constructor(options: SearchCacheOptions) {
    const { cacheBytes = DEFAULT_CACHE_BYTES, sharing = 1 } = options;
    this.#options = options;
    this.#cache = new IndexCache(cacheBytes / sharing);
    this.#maxTenants = MAX_TENANTS / sharing;
  }

  tenant(name: string): TenantCache {
    const known = this.#tenants.get(name);
    // LRU by insertion order.
    this.#tenants.delete(name);
    const cache = known ?? new TenantCache(this.#cache, this.#options, this.#vectors);
    this.#tenants.set(name, cache);
    const [oldest] = this.#tenants.keys();
    if (this.#tenants.size > this.#maxTenants && oldest !== undefined) this.#tenants.delete(oldest);
    return cache;
  }
}

/** A tail has a few megabytes at most. */
const MAX_TENANTS = 32;
/** The limit of cached paths. */
const MAX_PATHS = 50_000;
/** A session without branches needs none. */
const NO_RANGES: SessionPath["ranges"] = [];
const APPENDED = filtersOf("search").filter(([, { onAppend }]) => onAppend);
/** In the text of a scope that an append may change. */
const ON_APPEND = new RegExp(`"(${APPENDED.map(([name]) => name).join("|")})":`);

export class TenantCache {
  readonly cache: IndexCache;
  readonly vectors: VectorCache;
  readonly indexing: IndexingOptions;
  readonly clock: () => number;
  tail: Tail | undefined;
  /** Live documents of each source; `key` identifies the state of the index they were computed for. */
  liveness: { readonly key: string; readonly value: readonly Liveness[] } | undefined;
  /** Active paths of sessions that branched, as of position `seen` of the feed. */
  readonly #paths = new Map<number, SessionPath>();
  /** Sessions that never branched (most do not), as of the same position, like all fields below. */
  readonly #whole = new Set<number>();
  readonly #scopes = new ScopeCache();
  /** The session fields that windows show. */
  readonly #heads = new HeadCache();
  #seen = 0;

  constructor(
    cache: IndexCache,
    { indexing, clock }: Pick<SearchCacheOptions, "indexing" | "clock">,
    vectors: VectorCache = new VectorCache(),
  ) {
    this.cache = cache;
    this.vectors = vectors;
    this.indexing = indexing;
    this.clock = clock;
  }

  path(session: number): SessionPath | undefined {
    if (this.#whole.has(session)) return { session, isWhole: true, ranges: NO_RANGES };
    return this.#paths.get(session);
  }

  rememberPaths(paths: readonly SessionPath[]): void {
    if (this.#paths.size + this.#whole.size + paths.length > MAX_PATHS) this.#forgetPaths();
    for (const path of paths) {
      if (path.isWhole) this.#whole.add(path.session);
      else this.#paths.set(path.session, path);
    }
  }

  scope(key: string): Uint32Array | undefined {
    return this.#scopes.get(key);
  }

  /** `sessions` was read in this snapshot. */
  rememberScope(key: string, sessions: Uint32Array): void {
    this.#scopes.add(key, sessions);
  }

  head(session: number): WindowHead | undefined {
    return this.#heads.get(session);
  }

  /** `head` was read in this snapshot, or is the cached one. */
  rememberHead(session: number, head: WindowHead): void {
    this.#heads.add(session, head);
  }

  /** Invalidates the sessions that the feed names after `after`. */
  forgetNamed(after: number, { through, touched, sessions, deleted }: FeedSlice): void {
    if (sessions.length + deleted.length > 0) this.#scopes.clear();
    if (touched.length > 0) this.#scopes.forget(ON_APPEND);
    if (after > this.#seen) this.forgetJoined();
    for (const session of touched) {
      this.#paths.delete(session);
      this.#whole.delete(session);
      this.#heads.forget(session);
    }
    for (const { session } of sessions) this.#heads.forget(session);
    for (const { session } of deleted) this.#heads.forget(session);
    this.#seen = Math.max(this.#seen, through);
  }

  /** Invalidates cached sessions as of a feed position. */
  forgetJoined(): void {
    this.#scopes.clear();
    this.#forgetPaths();
    this.#heads.clear();
  }

  #forgetPaths(): void {
    this.#paths.clear();
    this.#whole.clear();
  }
}
