/**
 * An embedder with a cache of vectors in a folder, by the SHA-256 of their texts: a labelled set is
 * embedded once, and every ranking is measured with the same vectors.
 */

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../src/index.ts";

/** Texts that are embedded before their vectors are written. */
const BATCH = 32;

export class KeptVectors implements Embedder {
  readonly name: string;
  readonly #embedder: Embedder;
  readonly #files: { readonly keys: string; readonly vectors: string } | undefined;
  readonly #kept = new Map<string, Float32Array>();
  /** The requested vectors, by text. */
  readonly asked: Map<string, Float32Array> = new Map();

  constructor(embedder: Embedder, folder: string | undefined) {
    this.name = embedder.name;
    this.#embedder = embedder;
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    this.#files = { keys: join(folder, "keys.txt"), vectors: join(folder, "vectors.f32") };
    this.#read(this.#files);
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const missing = [...new Set(texts)].filter((text) => !this.#kept.has(keyOf(text)));
    for (let i = 0; i < missing.length; i += BATCH) {
      const some = missing.slice(i, i + BATCH);
      const vectors = await this.#embedder.embed(some, signal);
      this.#keep(
        some.map(keyOf),
        vectors.map((vector) => Float32Array.from(vector)),
      );
    }
    return texts.map((text) => {
      const vector = this.#kept.get(keyOf(text)) as Float32Array;
      this.asked.set(text, vector);
      return vector;
    });
  }

  async close(): Promise<void> {
    await this.#embedder.close?.();
  }

  #keep(keys: readonly string[], vectors: readonly Float32Array[]): void {
    for (const [i, key] of keys.entries()) this.#kept.set(key, vectors[i] as Float32Array);
    if (this.#files === undefined) return;
    for (const vector of vectors)
      appendFileSync(this.#files.vectors, new Uint8Array(vector.buffer));
    // Last, so that a key implies its vector.
    appendFileSync(this.#files.keys, keys.map((key) => `${key}\n`).join(""));
  }

  #read({ keys, vectors }: { readonly keys: string; readonly vectors: string }): void {
    if (!existsSync(keys)) return;
    const all = readFileSync(keys, "utf8").split("\n").slice(0, -1);
    const bytes = readFileSync(vectors);
    const size = bytes.length / all.length;
    if (!Number.isInteger(size / 4)) {
      throw new Error(`${vectors} does not have a vector for each line of ${keys}; delete both`);
    }
    const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    for (const [i, key] of all.entries()) {
      this.#kept.set(key, floats.slice((i * size) / 4, ((i + 1) * size) / 4));
    }
  }
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
