/**
 * LRU cache of packs: a page's entries are mostly in one or two.
 *
 * A committed pack's number is never reused, and erased entries are not read, so readers never see
 * stale data. Rewriting a pack must bypass the cache. A rollback clears it.
 */

import type { Pack } from "./pack.ts";

/** About twenty packs of long sessions, a thousand of short ones. */
const MAX_BYTES = 2 * 1024 * 1024;

export class PackCache {
  /** Most recently used last. */
  readonly #packs = new Map<string, Pack>();
  #bytes = 0;

  find(tenant: number, session: number, number: number): Pack | undefined {
    const key = keyOf(tenant, session, number);
    const pack = this.#packs.get(key);
    if (pack === undefined) return undefined;
    this.#packs.delete(key);
    this.#packs.set(key, pack);
    return pack;
  }

  keep(tenant: number, session: number, number: number, pack: Pack): void {
    this.drop(tenant, session, number);
    this.#packs.set(keyOf(tenant, session, number), pack);
    this.#bytes += pack.size;
    for (const [key, { size }] of this.#packs) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#packs.delete(key);
      this.#bytes -= size;
    }
  }

  drop(tenant: number, session: number, number: number): void {
    const key = keyOf(tenant, session, number);
    this.#bytes -= this.#packs.get(key)?.size ?? 0;
    this.#packs.delete(key);
  }

  clear(): void {
    this.#packs.clear();
    this.#bytes = 0;
  }
}

function keyOf(tenant: number, session: number, number: number): string {
  return `${tenant} ${session} ${number}`;
}
