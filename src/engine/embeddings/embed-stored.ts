/**
 * Embeds stored messages without a vector: only on demand, because it may cost money.
 *
 * Resumable: each batch is stored before the next.
 */

import { BackscrollError } from "../../model/errors.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { LEASE_MS } from "../../model/lease.ts";
import type { Embedder } from "../../model/models.ts";
import { priceOf } from "../../model/prices.ts";
import type { FeedRange } from "../../search/vectors/vector-port.ts";
import { checkInput } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { holdLease } from "../leases/hold-lease.ts";
import { checkEmbedder, embedBatch } from "./embed-batch.ts";
import { leaseNameOf } from "./vector-keeper.ts";

export interface EmbedStoredInput {
  /** Makes all vectors again, possibly with another embedder. */
  readonly again?: boolean;
  /** Stops after this many vectors. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  /** Called after each batch. */
  readonly onProgress?: (progress: EmbedProgress) => void;
}

export interface EmbedProgress {
  /** Vectors made. */
  readonly vectors: number;
  /** Changes of the feed read so far, and their total. */
  readonly changes: number;
  readonly total: number;
}

export interface EmbedEstimate {
  readonly embedder: string;
  /** Changes of the feed to read. */
  readonly changes: number;
  /** Estimated vectors and tokens, from samples. */
  readonly vectors: number;
  readonly tokens: number;
  /** In US dollars by the price table; null if the model is not in it. */
  readonly cost: number | null;
  /** Estimated time, from a few synthetic pieces. */
  readonly seconds: number;
}

/** Pieces per stored batch: a crash loses at most these. */
const BATCH = 512;
/** A text that reveals nothing of the store. */
const PROBE = "backscroll";
/** How long to wait for another process that embeds new messages. */
const PATIENCE_MS = 30_000;
/** How often the lease may be lost before a batch is stored: each try calls the model. */
const MAX_TRIES = 3;
/** Places of the feed that an estimate samples, and pieces read at each. */
const SAMPLES = 8;
const SAMPLE_PIECES = 64;
/** Pieces embedded to measure the time. */
const TIMED_PIECES = 8;
/** As in the token estimate. */
const CHARACTERS_A_TOKEN = 4;

export async function estimateEmbedding(
  engine: EngineContext,
  again: boolean,
): Promise<EmbedEstimate> {
  const embedder = embedderOf(engine);
  const ranges = await rangesToEmbed(engine, again);
  const changes = lengthOf(ranges);
  let [read, pieces, characters] = [0, 0, 0];
  for (let sample = 0; sample < SAMPLES && changes > 0; sample++) {
    const after = positionAt(ranges, Math.floor((changes * sample) / SAMPLES));
    const found = await engine.store.readPieces(engine.tenant, { after, enough: SAMPLE_PIECES });
    read += found.through - after;
    pieces += found.pieces.length;
    characters += found.pieces.reduce((sum, { text }) => sum + text.length, 0);
  }
  const share = read === 0 ? 0 : changes / read;
  const tokens = Math.round((share * characters) / CHARACTERS_A_TOKEN);
  const price = priceOf(embedder.name, engine.prices());
  const vectors = Math.round(share * pieces);
  return {
    embedder: embedder.name,
    changes,
    vectors,
    tokens,
    cost: price === undefined ? null : (tokens * price.input) / 1e6,
    seconds: pieces === 0 ? 0 : vectors * (await secondsAPiece(embedder, characters / pieces)),
  };
}

/** Sends no stored text: the caller may still decide against embedding. */
async function secondsAPiece(embedder: Embedder, characters: number): Promise<number> {
  const text = `${PROBE} `.repeat(Math.ceil(characters / (PROBE.length + 1)));
  const texts = Array.from({ length: TIMED_PIECES }, (_, i) => `${i} ${text}`);
  // The first call may load a model.
  await embedder.embed([PROBE]);
  const start = performance.now();
  await embedder.embed(texts);
  return (performance.now() - start) / 1_000 / TIMED_PIECES;
}

/** Resolves when all is embedded, or after `limit` vectors. */
export async function embedStored(
  engine: EngineContext,
  input: EmbedStoredInput,
): Promise<EmbedProgress> {
  const {
    again = false,
    limit,
    signal,
    onProgress,
  } = checkInput(input, "options", INPUTS.embedStored);
  const most = limit ?? Number.POSITIVE_INFINITY;
  const embedder = embedderOf(engine);
  const { store, tenant } = engine;
  let [isStarted, isDone] = [false, false];
  let tries = 0;
  let progress: EmbedProgress = { vectors: 0, changes: 0, total: 0 };
  const claim = {
    store,
    name: leaseNameOf(tenant),
    owner: engine.newId(),
    durationMs: LEASE_MS,
    patienceMs: PATIENCE_MS,
    // The keeper of new messages gives way after its batch.
    waitsForOwn: true,
  };
  const held = signal === undefined ? claim : { ...claim, signal };
  // After a loss of the lease the work starts again, with the messages that still have no vector.
  const work = async (leased: AbortSignal) => {
    if (++tries > MAX_TRIES) return;
    if ((again && !isStarted) || (await store.indexStatus(tenant)).vectors === null) {
      await start(engine, embedder, leased);
    }
    isStarted = true;
    const ranges = await rangesToEmbed(engine, false);
    let { vectors, changes: before } = progress;
    const total = before + lengthOf(ranges);
    progress = { vectors, changes: before, total };
    const embedding = { store, tenant, embedder, signal: leased, batch: BATCH };
    for (const { from, to } of ranges) {
      for (let at = from; at < to && vectors < most && !leased.aborted; ) {
        const { through, pieces } = await embedBatch(embedding, at, to);
        if (through === at) break;
        at = through;
        tries = 0;
        vectors += pieces;
        if (pieces > 0) engine.meaning?.hasVectors(tenant);
        progress = { vectors, changes: before + at - from, total };
        onProgress?.(progress);
        await store.maintain(tenant, "maintain");
      }
      before += to - from;
    }
    while ((await store.maintain(tenant, "maintain")).more && !leased.aborted);
    isDone = !leased.aborted;
  };
  await holdLease(held, work);
  signal?.throwIfAborted();
  if (isDone) return progress;
  const why =
    tries > MAX_TRIES
      ? `embedding stopped: its lease was lost ${MAX_TRIES} times without progress; the store did not answer, or the embedder blocked this process`
      : "another process is embedding this store";
  throw new BackscrollError("store_busy", why, { details: { retryAfterMs: 10_000 } });
}

function embedderOf({ meaning }: EngineContext): Embedder {
  if (meaning !== undefined) return meaning.embedder;
  throw new BackscrollError(
    "model_unavailable",
    "there is no embedder; give open one, or set BACKSCROLL_EMBED_URL and BACKSCROLL_EMBED_MODEL",
    { details: { model: "embedder" } },
  );
}

/** New messages begin at the feed's end; everything before it is to be filled. */
async function start(
  { store, tenant }: EngineContext,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<void> {
  const [probe] = await embedder.embed([PROBE], signal);
  const { head } = await store.indexStatus(tenant);
  const dimensions = probe?.length ?? 0;
  await store.maintain(tenant, {
    startVectors: { embedder: embedder.name, dimensions, through: head },
  });
}

/** The gaps, and the changes since. */
async function rangesToEmbed(engine: EngineContext, again: boolean): Promise<FeedRange[]> {
  const { store, tenant } = engine;
  const { vectors, head } = await store.indexStatus(tenant);
  if (again || vectors === null) return [{ from: 0, to: head }];
  checkEmbedder(vectors, embedderOf(engine));
  const rest = { from: vectors.through, to: head };
  return [...vectors.gaps, rest].filter(({ from, to }) => to > from);
}

function lengthOf(ranges: readonly FeedRange[]): number {
  return ranges.reduce((total, { from, to }) => total + to - from, 0);
}

/** The feed position after `offset` changes of the ranges. */
function positionAt(ranges: readonly FeedRange[], offset: number): number {
  let left = offset;
  for (const { from, to } of ranges) {
    if (left < to - from) return from + left;
    left -= to - from;
  }
  return ranges.at(-1)?.to ?? 0;
}
