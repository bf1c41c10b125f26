/** What a process remembers of the index: blobs and what was parsed from them, up to a limit. */

interface Kept {
  readonly value: unknown;
  readonly bytes: number;
}

export const DEFAULT_CACHE_BYTES: number = 64 * 1024 * 1024;

/**
 * Everything in it is immutable, so it never has to be told of a change. It has two generations:
 * when the young one has half of the limit, it becomes the old one, and what nobody asked for since
 * the last time goes. So keeping order costs nothing.
 */
export class IndexCache {
  readonly maxBytes: number;
  #young = new Map<string, Kept>();
  #old = new Map<string, Kept>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(maxBytes: number = DEFAULT_CACHE_BYTES) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(key: string): unknown {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#oldBytes -= old.bytes;
    this.set(key, old.value, old.bytes);
    return old.value;
  }

  set(key: string, value: unknown, bytes: number): void {
    const known = this.#young.get(key);
    if (known !== undefined) this.#youngBytes -= known.bytes;
    this.#young.set(key, { value, bytes });
    this.#youngBytes += bytes;
    if (this.#youngBytes <= this.maxBytes / 2) return;
    this.#old = this.#young;
    this.#oldBytes = this.#youngBytes;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}
