/** The producer of a resumable stream: stores the chunks as they arrive, and learns of a stop. */

import type { ChunkLike, StreamHead, StreamRecords } from "./stream-records.ts";

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

export class Producer implements StreamProducer {
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
