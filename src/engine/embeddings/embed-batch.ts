/** Embeds one batch: the next pieces of the feed become stored vectors. */

import { pause } from "../../async/pause.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Embedder } from "../../model/models.ts";
import type { MaintenanceTask } from "../../search/port.ts";
import type { VectorIndex } from "../../search/vectors/vector-port.ts";
import type { Store } from "../../store/store.ts";

/** Pieces in a batch by default: one call of most embedders. */
const BATCH = 64;
/** Fewer changes without text to embed are not worth a new manifest. */
const FEW_CHANGES = 1_024;

export interface EmbeddingWork {
  readonly store: Pick<Store, "readPieces" | "maintain">;
  readonly tenant: string;
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
  /** Pieces at a time. */
  readonly batch?: number;
}

export interface EmbeddedBatch {
  /** The start of the next batch. */
  readonly through: number;
  readonly pieces: number;
  readonly characters: number;
  /** True: nothing is left up to `to`. */
  readonly done: boolean;
}

/**
 * Embeds the pieces after `from`, up to `to` or the feed's end. Throws the embedder's errors, and
 * `embedder_conflict` if the store has vectors of another one.
 */
export async function embedBatch(
  { store, tenant, embedder, signal, batch: enough = BATCH }: EmbeddingWork,
  from: number,
  to?: number,
): Promise<EmbeddedBatch> {
  const range = to === undefined ? { after: from } : { after: from, to };
  const read = await store.readPieces(tenant, { ...range, enough });
  const { pieces, through, head } = read;
  checkEmbedder(read.vectors, embedder);
  const done = through >= (to ?? head);
  const characters = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const isLittle = to === undefined && pieces.length === 0 && through - from < FEW_CHANGES;
  if (through === from || isLittle) return { through: from, pieces: 0, characters, done };
  // Repeated texts, mostly in forks, are embedded once.
  const texts = [...new Set(pieces.map(({ text }) => text))];
  const vectors = texts.length === 0 ? [] : await embedder.embed(texts, signal);
  signal.throwIfAborted();
  const dimensions = vectors[0]?.length ?? read.vectors?.dimensions;
  // Without text to embed, the number of dimensions is unknown.
  if (dimensions === undefined) return { through, pieces: 0, characters, done };
  if (read.vectors === undefined) {
    const start = { embedder: embedder.name, dimensions, through: from };
    await carryOut(store, tenant, { startVectors: start }, signal);
  } else if (read.vectors.dimensions !== dimensions) {
    throw conflict(read.vectors, `${embedder.name} of ${dimensions} dimensions`);
  }
  const values = new Float32Array(pieces.length * dimensions);
  const places = new Map(texts.map((text, i) => [text, i]));
  for (const [i, { text }] of pieces.entries()) {
    values.set(vectors[places.get(text) as number] as Float32Array, i * dimensions);
  }
  const infos = pieces.map(({ info }) => info);
  const batch = { embedder: embedder.name, from, to: through, builtAt: head };
  await carryOut(store, tenant, { addVectors: { ...batch, pieces: infos, values } }, signal);
  return { through, pieces: pieces.length, characters, done };
}

/** Throws `embedder_conflict` if the store has vectors of another embedder. */
export function checkEmbedder(
  vectors: Pick<VectorIndex, "embedder" | "dimensions"> | null | undefined,
  { name, dimensions }: Embedder,
): void {
  if (vectors === null || vectors === undefined) return;
  const isSame = dimensions === undefined || dimensions === vectors.dimensions;
  if (vectors.embedder === name && isSame) return;
  throw conflict(vectors, dimensions === undefined ? name : `${name} of ${dimensions} dimensions`);
}

function conflict(
  { embedder, dimensions }: Pick<VectorIndex, "embedder" | "dimensions">,
  given: string,
): BackscrollError {
  return new BackscrollError(
    "embedder_conflict",
    `the vectors of this store are of ${embedder} with ${dimensions} dimensions, not of ${given}; to embed everything again: backscroll embed --again`,
    { details: { embedder, dimensions } },
  );
}

/** Longer than a merge of a few segments. */
const PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** Waits while another process maintains the index. */
async function carryOut(
  store: EmbeddingWork["store"],
  tenant: string,
  task: MaintenanceTask,
  signal: AbortSignal,
): Promise<void> {
  let waited = 0;
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(LONGEST_PAUSE_MS, 2 * ms)) {
    const { busy } = await store.maintain(tenant, task);
    if (!busy) return;
    if (waited >= PATIENCE_MS) {
      throw new BackscrollError("store_busy", "another process keeps the index busy; try again", {
        details: { retryAfterMs: 10_000 },
      });
    }
    await pause(ms, signal);
    signal.throwIfAborted();
    waited += ms;
  }
}
