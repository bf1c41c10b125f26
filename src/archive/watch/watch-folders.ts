/**
 * Reports changed files below folders, from the system's file events.
 *
 * Events are hints: systems drop them, network disks have none, and there may be more folders than
 * watches. Callers also scan everything periodically.
 */

import { type FSWatcher, watch } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Systems limit the watches of a user to some thousands; most stay free for other programs. */
const MAX_FOLDERS = 4_096;

/** macOS and Windows watch a whole tree at once. */
const WATCHES_TREES = process.platform === "darwin" || process.platform === "win32";

export class FolderWatcher {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: (path: string) => void;
  #closed = false;

  /** `onChange` gets the path that was written, created or deleted. */
  constructor(onChange: (path: string) => void) {
    this.#onChange = onChange;
  }

  get folders(): number {
    return this.#watchers.size;
  }

  /** Watches a folder and all below it. Skips watched and missing folders. */
  async add(folder: string, skips: (path: string) => boolean = () => false): Promise<void> {
    if (WATCHES_TREES) this.#watch(folder, true);
    else await this.#addTree(folder, "", skips);
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #addTree(root: string, path: string, skips: (path: string) => boolean): Promise<void> {
    const folder = join(root, path);
    if (!this.#watch(folder, false, (name) => this.#made(root, join(path, name), skips))) return;
    try {
      for await (const entry of await opendir(folder)) {
        const below = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.isDirectory() && !skips(below)) await this.#addTree(root, below, skips);
      }
    } catch {
      // Deleted or unreadable.
      this.#drop(folder);
    }
  }

  /** Watches a new folder, and reports the files already in it. */
  #made(root: string, path: string, skips: (path: string) => boolean): void {
    const full = join(root, path);
    stat(full).then(
      async (facts) => {
        if (!facts.isDirectory() || this.#watchers.has(full) || skips(path)) return;
        await this.#addTree(root, path, skips);
        await this.#tellAll(full);
      },
      // Deleted again.
      () => this.#drop(full),
    );
  }

  async #tellAll(folder: string): Promise<void> {
    try {
      for await (const entry of await opendir(folder, { recursive: true })) {
        if (entry.isFile()) this.#onChange(join(entry.parentPath, entry.name));
      }
    } catch {
      // The folder was deleted.
    }
  }

  /** False if it cannot be watched, or already is. */
  #watch(folder: string, recursive: boolean, onMade: (name: string) => void = () => {}): boolean {
    if (this.#closed || this.#watchers.has(folder) || this.#watchers.size >= MAX_FOLDERS) {
      return false;
    }
    try {
      const watcher = watch(folder, { recursive }, (event, name) => {
        if (name === null) return;
        this.#onChange(join(folder, name));
        if (event === "rename") onMade(name);
      });
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
      return true;
    } catch {
      // Missing, or the system has no watches left.
      return false;
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
