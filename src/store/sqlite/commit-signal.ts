/** Change notification: commits of this process signal at once, those of others by polling. */

/** Poll interval for commits of other processes while there are listeners. */
const POLL_MS = 50;

export class CommitSignal {
  readonly #readVersion: () => Promise<unknown>;
  readonly #listeners = new Set<() => void>();
  #poll: NodeJS.Timeout | undefined;
  #seenVersion: unknown;
  #closed = false;

  /** `readVersion` reads SQLite's `data_version`, which changes with the commits of other connections. */
  constructor(readVersion: () => Promise<unknown>) {
    this.#readVersion = readVersion;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#poll ??= setInterval(() => void this.#look(), POLL_MS).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  committed(): void {
    for (const listener of this.#listeners) listener();
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    const version = await this.#readVersion().catch((error: unknown) => error);
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    this.committed();
  }
}
