/** The side of a resumable stream that has the chunks: writes them down, and hears of a stop. */

import type { ChunkLike, StreamHead, StreamRecords } from "./stream-records.ts";

export interface StreamProducer {
  /** Its own id. */
  readonly id: string;
  /** Aborted when somebody has stopped the stream, or another one of the chat took its place. */
  readonly signal: AbortSignal;
  /**
   * Stores the chunks as they come, and gives them on. Storing goes on when whoever reads the result
   * has gone.
   */
  pipe<Chunk extends ChunkLike>(chunks: ReadableStream<Chunk>): ReadableStream<Chunk>;
  /** The same for `consumeSseStream` of the SDK: resolves once all is stored. */
  consumeSse(options: { readonly stream: ReadableStream<string> }): Promise<void>;
}

/** Chunks that arrive within this time are stored together. */
const FLUSH_MS = 80;

/** Looks for a stop at least this often, in milliseconds. */
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
    // A sign of life, for readers that see no chunks.
    this.#beat = setInterval(() => this.#flush(), Math.min(LOOK_MS, leaseMs / 3));
    this.#beat.unref();
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  pipe<Chunk extends ChunkLike>(chunks: ReadableStream<Chunk>): ReadableStream<Chunk> {
    const [given, stored] = chunks.tee();
    // What goes wrong with the source reaches who reads the other branch.
    void this.#consume(stored).catch(() => undefined);
    return given;
  }

  consumeSse({ stream }: { readonly stream: ReadableStream<string> }): Promise<void> {
    return this.#consume(stream.pipeThrough(chunksOfSse()));
  }

  async #consume(chunks: ReadableStream<ChunkLike>): Promise<void> {
    let state: "done" | "aborted" = "aborted";
    try {
      for await (const chunk of chunks) {
        if (this.signal.aborted) break;
        this.#waiting.push(chunk);
        this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
      }
      if (!this.signal.aborted) state = "done";
    } finally {
      await this.#end(state);
    }
  }

  /** Writes what waits, after what is being written. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // One write at a time; what arrives meanwhile goes with the next.
    this.#writing ??= this.#write("open").finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    });
    // A store that cannot be reached now is tried again with the next sign of life.
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

  /** Somebody else wrote the head: to stop the stream, to give it up, or to begin another one. */
  async #lose(chunks: readonly ChunkLike[], state: "open" | "done" | "aborted"): Promise<void> {
    const head = await this.#records.findHead(this.#chatId);
    this.#stopped.abort(new DOMException("the stream was stopped", "AbortError"));
    if (head?.stream !== this.id || head.state !== "stopping") {
      this.#isOver = true;
      return;
    }
    // What was said until the stop is kept.
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
