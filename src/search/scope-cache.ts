/** An LRU cache of scopes: the sessions of each, by its text. */

/**
 * About the number of projects in a store; reading a project of 20,000 sessions takes half as long
 * as a search. Each scope holds a number per session, and a bit per scanned message.
 */
const MAX_SCOPES = 64;
/** The limit of sessions in all of them. */
const MAX_SCOPED = 500_000;
/** Scopes of at most one session: they are small, and must not evict those of a project. */
const MAX_SINGLES = 64;

export class ScopeCache {
  readonly #several = new Map<string, Uint32Array>();
  readonly #singles = new Map<string, Uint32Array>();

  get(key: string): Uint32Array | undefined {
    const scopes = this.#several.has(key) ? this.#several : this.#singles;
    const known = scopes.get(key);
    if (known === undefined) return undefined;
    scopes.delete(key);
    scopes.set(key, known);
    return known;
  }

  add(key: string, sessions: Uint32Array): void {
    const isSingle = sessions.length <= 1;
    const scopes = isSingle ? this.#singles : this.#several;
    scopes.set(key, sessions);
    let scoped = 0;
    for (const each of scopes.values()) scoped += each.length;
    for (const [oldest, each] of scopes) {
      if (scopes.size <= (isSingle ? MAX_SINGLES : MAX_SCOPES) && scoped <= MAX_SCOPED) break;
      scopes.delete(oldest);
      scoped -= each.length;
    }
  }

  /** Invalidates the scopes whose text contains this. */
  forget(text: RegExp): void {
    for (const scopes of [this.#several, this.#singles]) {
      for (const key of scopes.keys()) if (text.test(key)) scopes.delete(key);
    }
  }

  clear(): void {
    this.#several.clear();
    this.#singles.clear();
  }
}
