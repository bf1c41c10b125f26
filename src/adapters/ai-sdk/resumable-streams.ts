/**
 * Streams that outlive a connection, without another database: the chunks of an answer are stored as
 * they arrive, and any node replays them to a reader that reconnects.
 */

import { pause } from "../../async/pause.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { checkTenant } from "../common/sessions.ts";
import {
  BATCHES_AT_ONCE,
  type ChunkLike,
  type SeenHead,
  type StreamHead,
  StreamRecords,
} from "./stream-records.ts";

/**
 * The reader of a resumable stream: one that reconnects, possibly on another node.
 *
 * The polling interval. With the producer's flush interval, a chunk arrives well within 300 ms.
 */
const POLL_MS = 80;

/**
 * All chunks of the stream so far, then the rest as it is written. If the producer sends no
 * heartbeat for `leaseMs`, the stream is abandoned: this reader and all later ones get an `abort`
 * part.
 */
function readStream<Chunk extends ChunkLike>(
  records: StreamRecords,
  chatId: string,
  first: SeenHead,
  leaseMs: number,
): ReadableStream<Chunk> {
  const gone = new AbortController();
  let head = first;
  let through = 0;
  let aliveAt = performance.now();
  return new ReadableStream<Chunk>({
    async pull(controller) {
      for (;;) {
        // Read the head before the chunks: the batches that it counts are then stored.
        const now = await records.findHead(chatId);
        if (gone.signal.aborted) return;
        if (now !== undefined && now.version !== head.version) aliveAt = performance.now();
        const isOurs = now?.stream === first.stream;
        if (isOurs) head = now;
        // The number of batches is unknown if another stream has replaced this one.
        const upTo = isOurs ? head.batches : through + BATCHES_AT_ONCE;
        const found = await records.readAfter(first.stream, through, upTo);
        if (gone.signal.aborted) return;
        through = found.through;
        for (const chunk of found.chunks) controller.enqueue(chunk as Chunk);
        if (isOurs && head.state === "done" && through >= head.batches) return controller.close();
        const isRead = isOurs ? through >= head.batches : found.chunks.length === 0;
        const isOver = isRead && (!isOurs || head.state === "aborted");
        if (isOver || (await isGivenUp())) {
          if (!found.chunks.some(({ type }) => type === "abort")) {
            controller.enqueue({ type: "abort" } as unknown as Chunk);
          }
          return controller.close();
        }
        if (found.chunks.length > 0) return;
        await pause(POLL_MS, gone.signal);
        if (gone.signal.aborted) return;
      }
    },
    cancel() {
      gone.abort();
    },
  });

  /**
   * Failure detection: a head that is unchanged for a lease has lost its producer. Measured by this
   * reader's clock alone.
   */
  async function isGivenUp(): Promise<boolean> {
    if (performance.now() - aliveAt < leaseMs) return false;
    const { stream, batches, version } = head;
    const ended = await records.advance(chatId, { stream, state: "aborted", batches }, [], version);
    // It was alive after all: look again.
    if (ended === undefined) aliveAt = performance.now();
    return ended !== undefined;
  }
}

export interface ResumableStreamsOptions {
  /** The namespace of the records. Default: `ai-sdk/streams`. */
  readonly namespace?: string;
  /** Readers abandon a producer without a heartbeat for this long. Default: 5,000. */
  readonly leaseMs?: number;
  /** The time to live of chunks. Default: 3,600 seconds. */
  readonly keepSeconds?: number;
}

export interface ResumableStreams {
  /** Starts the stream of a chat, which supersedes a running one. */
  start(chatId: string): Promise<StreamProducer>;
  /** The chunks of the chat's running stream from its start; null if none is running. */
  resume<Chunk extends ChunkLike = ChunkLike>(
    chatId: string,
  ): Promise<ReadableStream<Chunk> | null>;
  /** As `resume`, as the response to `GET …/stream`: 204 if no stream is running. */
  resumeResponse(chatId: string): Promise<Response>;
  /** Asks the producer, on any node, to stop. False if no stream is running. */
  stop(chatId: string): Promise<boolean>;
}

const DEFAULT_LEASE_MS = 5_000;
const MIN_LEASE_MS = 1_000;
const DEFAULT_KEEP_SECONDS = 3_600;

export function resumableStreams(
  tenant: TenantApi,
  options: ResumableStreamsOptions = {},
): ResumableStreams {
  const {
    namespace = "ai-sdk/streams",
    leaseMs = DEFAULT_LEASE_MS,
    keepSeconds = DEFAULT_KEEP_SECONDS,
  } = checkFields(options, "options", INPUTS.resumableStreams);
  checkTenant(tenant);
  if (leaseMs < MIN_LEASE_MS) {
    const message = `leaseMs must be at least ${MIN_LEASE_MS}`;
    throw new BackscrollError("invalid_input", message, { details: { field: "leaseMs" } });
  }
  const records = new StreamRecords(tenant.records, namespace, keepSeconds);

  async function resume<Chunk extends ChunkLike>(
    chatId: string,
  ): Promise<ReadableStream<Chunk> | null> {
    const head = await records.findHead(chatId);
    if (head === undefined || head.state === "done" || head.state === "aborted") return null;
    return readStream<Chunk>(records, chatId, head, leaseMs);
  }

  return {
    async start(chatId) {
      const id = crypto.randomUUID();
      return new Producer(records, chatId, id, await records.begin(chatId, id), leaseMs);
    },
    resume,
    async resumeResponse(chatId) {
      const chunks = await resume(chatId);
      if (chunks === null) return new Response(null, { status: 204 });
      return new Response(chunks.pipeThrough(toSse()), { headers: SSE_HEADERS });
    },
    async stop(chatId) {
      for (;;) {
        const head = await records.findHead(chatId);
        if (head === undefined || head.state === "done" || head.state === "aborted") return false;
        if (head.state === "stopping") return true;
        const { stream, batches, version } = head;
        const asked = { stream, batches, state: "stopping" } as const;
        if ((await records.advance(chatId, asked, [], version)) !== undefined) return true;
      }
    },
  };
}

/** As the SDK's own responses have them. */
const SSE_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no",
} as const;

function toSse(): TransformStream<ChunkLike, Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return new TransformStream({
    transform: (chunk, controller) =>
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)),
    flush: (controller) => controller.enqueue(encoder.encode("data: [DONE]\n\n")),
  });
}

/** The producer of a resumable stream: stores the chunks as they arrive, and learns of a stop. */
export interface StreamProducer {
  /** Its own id. */
  readonly id: string;
  /** Aborted when the stream is stopped, or superseded by another one of the chat. */
  readonly signal: AbortSignal;
  /**
   * Stores the chunks as they arrive, and passes them on. Storing continues after the reader of the
   * result has disconnected.
   */
  pipe<Chunk extends ChunkLike>(chunks: ReadableStream<Chunk>): ReadableStream<Chunk>;
  /** As `pipe`, for `consumeSseStream` of the SDK; resolves once all chunks are stored. */
  consumeSse(options: { readonly stream: ReadableStream<string> }): Promise<void>;
}

/** Chunks that arrive within this time are stored together. */
const FLUSH_MS = 80;

/** The longest interval between two checks for a stop, in milliseconds. */
const LOOK_MS = 500;

class Producer implements StreamProducer {
  readonly id: string;
  readonly #chatId: string;
  readonly #records: StreamRecords;
  readonly #stopped = new AbortController();
  readonly #beat: NodeJS.Timeout;
  #version: string;
  #batches = 0;
  #waiting: ChunkLike[] = [];
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    records: StreamRecords,
    chatId: string,
    id: string,
    version: string,
    leaseMs: number,
  ) {
    this.#records = records;
    this.#chatId = chatId;
    this.id = id;
    this.#version = version;
    // A heartbeat, for readers of a stream without new chunks.
    this.#beat = setInterval(() => this.#flush(), Math.min(LOOK_MS, leaseMs / 3));
    this.#beat.unref();
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  pipe<Chunk extends ChunkLike>(chunks: ReadableStream<Chunk>): ReadableStream<Chunk> {
    let isRead = true;
    // Not `tee`: cancelling one of its branches has no effect before the other is cancelled.
    return new ReadableStream<Chunk>({
      start: (reader) => {
        const give = (chunk: ChunkLike) => {
          if (isRead) reader.enqueue(chunk as Chunk);
        };
        void this.#consume(chunks, give).then(
          () => isRead && reader.close(),
          (error: unknown) => isRead && reader.error(error),
        );
      },
      cancel: () => {
        isRead = false;
      },
    });
  }

  consumeSse({ stream }: { readonly stream: ReadableStream<string> }): Promise<void> {
    return this.#consume(stream.pipeThrough(chunksOfSse()));
  }

  /** Drains the source even after a stop: the local reader still gets its last chunks. */
  async #consume(
    chunks: ReadableStream<ChunkLike>,
    give: (chunk: ChunkLike) => void = () => undefined,
  ): Promise<void> {
    let state: "done" | "aborted" = "aborted";
    try {
      for await (const chunk of chunks) {
        give(chunk);
        if (this.signal.aborted) continue;
        this.#waiting.push(chunk);
        this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
      }
      if (!this.signal.aborted) state = "done";
    } finally {
      await this.#end(state);
    }
  }

  /** Starts a write of the buffered chunks, unless one is in flight. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // One write at a time; the next one takes the chunks that arrive meanwhile.
    this.#writing ??= this.#write("open").finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    });
    // The next heartbeat retries a store that cannot be reached now.
    this.#writing.catch(() => undefined);
  }

  async #write(state: "open" | "done" | "aborted"): Promise<void> {
    if (this.#isOver) return;
    const chunks = this.#waiting;
    this.#waiting = [];
    const batches = this.#batches + (chunks.length === 0 ? 0 : 1);
    const head: StreamHead = { stream: this.id, state, batches };
    try {
      const version = await this.#records.advance(this.#chatId, head, chunks, this.#version);
      if (version === undefined) return await this.#lose(chunks, state);
      this.#version = version;
      this.#batches = batches;
    } catch (error) {
      this.#waiting = [...chunks, ...this.#waiting];
      throw error;
    }
  }

  /** Another process wrote the head: to stop, abandon or supersede the stream. */
  async #lose(chunks: readonly ChunkLike[], state: "open" | "done" | "aborted"): Promise<void> {
    const head = await this.#records.findHead(this.#chatId);
    clearInterval(this.#beat);
    this.#stopped.abort(new DOMException("the stream was stopped", "AbortError"));
    if (head?.stream !== this.id || head.state !== "stopping") {
      this.#isOver = true;
      return;
    }
    // Chunks from before the stop are stored.
    this.#version = head.version;
    this.#waiting = [...chunks, ...this.#waiting];
    await this.#write(state === "done" ? "done" : "aborted");
    this.#isOver = true;
  }

  async #end(state: "done" | "aborted"): Promise<void> {
    clearInterval(this.#beat);
    await this.#writing?.catch(() => undefined);
    clearTimeout(this.#timer);
    await this.#write(state);
    this.#isOver = true;
  }
}

/** The JSON of each event of an SSE stream that the SDK writes. */
function chunksOfSse(): TransformStream<string, ChunkLike> {
  let rest = "";
  return new TransformStream({
    transform(text, controller) {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = event.replace(/^data: /, "");
        if (event.startsWith("data: ") && data !== "[DONE]") {
          controller.enqueue(JSON.parse(data) as ChunkLike);
        }
      }
    },
  });
}
