/** The thread of `local-embedder.ts`: runs a model installed beside Backscroll. */

import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../model/errors.ts";
import type { LocalAnswer, LocalQuestion, LocalThreadData } from "./local-embedder.ts";

interface LocalEngine {
  readonly createEmbedder: (options: { readonly model: unknown }) => Promise<{
    embed(texts: string[]): Promise<number[][]>;
  }>;
}

const { engine, model } = workerData as LocalThreadData;
const port = parentPort;
if (port === null) throw new Error("local-thread runs as a thread only");

const loading = (async () => {
  const { createEmbedder } = (await import(engine)) as LocalEngine;
  const { default: manifest } = (await import(model)) as { readonly default: unknown };
  return createEmbedder({ model: manifest });
})();

port.on("message", async ({ id, texts }: LocalQuestion) => {
  let answer: LocalAnswer;
  try {
    const vectors: Float32Array[] = [];
    // One by one: for batches the engine starts its own threads, and is no faster.
    for (const text of texts) {
      const [vector] = await (await loading).embed([text]);
      vectors.push(Float32Array.from(vector ?? []));
    }
    answer = { id, vectors };
  } catch (error) {
    answer = { id, failure: messageOf(error) };
  }
  port.postMessage(answer);
});
