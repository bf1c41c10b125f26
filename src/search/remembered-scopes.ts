/** Which sessions a scope has, by its text: an LRU cache. */

/**
 * A store has that many projects; to read one of 20,000 sessions takes as long as half a search. Each
 * keeps a number a session, and a bit for each message that was looked at.
 */
const MAX_SCOPES = 64;
/** Sessions of all of them together. */
const MAX_SCOPED = 500_000;
/** Scopes of one session, or none: they take little room, and must not evict those of a project. */
const MAX_SINGLES = 64;

export class RememberedScopes {
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

  /** Forgets the scopes whose text has this. */
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
