/**
 * A streamed message in a remote store.
 *
 * Chunks are sent within the flush interval, in order. Exactly-once by offset: after a lost or
 * failed answer the client reads the stored length and continues there.
 */

import { toWireBlock } from "../api/block.ts";
import { fromWire } from "../api/shape.ts";
import { toWireFields } from "../api/wire.ts";
import type { MessageApi } from "../engine/interfaces.ts";
import type { OpenMessageInput } from "../engine/message-stream.ts";
import type { CommitInput } from "../engine/writing/commit-input.ts";
import type { Block, BlockInput } from "../model/block.ts";
import { ENTRY, type Entry } from "../model/entry.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { LEASE_MS } from "../model/lease.ts";
import type { Chunk } from "../transcript/chunks.ts";
import { normalizeBlock } from "../transcript/normalize.ts";
import type { Connection } from "./connection.ts";
import { at, keyHeader, known, leafHeader, newKey, toBody } from "./request.ts";

const FLUSH_MS = 250;

export async function openMessage(
  connection: Connection,
  sessionId: string,
  options: OpenMessageInput,
): Promise<RemoteMessage> {
  const { idempotencyKey, ...input } = known("openMessage", options, "message");
  const opened = await connection.call<{
    readonly id: string;
    readonly lease: string;
    readonly lease_ms: number;
  }>({
    method: "POST",
    path: at`/v1/sessions/${sessionId}/streams`,
    headers: keyHeader(idempotencyKey),
    body: toBody(input),
  });
  const { id, lease, lease_ms: leaseMs } = opened;
  return new RemoteMessage(connection, { id, sessionId, lease, leaseMs, stored: NO_SIZE });
}

export function continueMessage(
  connection: Connection,
  entry: Entry,
  lease: string,
): RemoteMessage {
  const { id, sessionId, status, blocks } = entry;
  if (status !== "pending") throw streamLost(id);
  const stored = sizeOfBlocks(blocks);
  return new RemoteMessage(connection, { id, sessionId, lease, leaseMs: LEASE_MS, stored });
}

interface Opened {
  readonly id: string;
  readonly sessionId: string;
  readonly lease: string;
  readonly leaseMs: number;
  /** The stored length. */
  readonly stored: Size;
}

export class RemoteMessage implements MessageApi {
  readonly id: string;
  readonly sessionId: string;
  readonly lease: string;
  readonly leaseMs: number;
  readonly #connection: Connection;
  readonly #buffer = new WriteBuffer();
  #stored: Size;
  /** Sent, outcome unknown. */
  #doubtful: readonly SentChunk[] | undefined;
  /** The queue of requests. */
  #queue: Promise<unknown> = Promise.resolve();
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #leaseTimer: ReturnType<typeof setInterval>;
  /** The permanent failure, if the message is lost. */
  #failure: unknown;
  readonly #commitKey = newKey();
  #isCommitDoubtful = false;
  #state: "open" | "ending" | "ended" = "open";

  constructor(connection: Connection, { id, sessionId, lease, leaseMs, stored }: Opened) {
    this.id = id;
    this.sessionId = sessionId;
    this.lease = lease;
    this.leaseMs = leaseMs;
    this.#connection = connection;
    this.#stored = stored;
    this.#leaseTimer = setInterval(
      () => this.#inBackground(() => this.#sendRenewal()),
      leaseMs / 3,
    );
    // Browsers' timers are numbers without `unref`.
    (this.#leaseTimer as { unref?: () => void }).unref?.();
    connection.openMessages.add(this);
  }

  async write(chunk: string | BlockInput): Promise<void> {
    this.#check();
    this.#buffer.add(typeof chunk === "string" ? chunk : normalizeBlock(chunk, "chunk"));
    if (this.#buffer.isFull) return this.flush();
    if (this.#buffer.isEmpty) return;
    this.#flushLater();
  }

  async flush(): Promise<void> {
    this.#check();
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    await this.#inTurn(() => this.#sendAll());
  }

  async commit(input: CommitInput = {}): Promise<Entry> {
    const { expectedLeaf, idempotencyKey, usage, ...rest } = known("openMessage.commit", input);
    const headers = {
      ...keyHeader(idempotencyKey ?? this.#commitKey),
      ...leafHeader(expectedLeaf),
    };
    const fields = {
      ...rest,
      ...(usage === undefined ? {} : { usage: toWireFields(usage as JsonObject) }),
    };
    return this.#end("commit", fields, headers);
  }

  async abort(reason = "aborted"): Promise<Entry> {
    return this.#end("abort", { reason }, {});
  }

  async detach(): Promise<void> {
    try {
      if (this.#state !== "ended") await this.flush();
    } finally {
      this.#stopTimers();
    }
  }

  async renew(): Promise<void> {
    this.#check();
    await this.#inTurn(() => this.#sendRenewal());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state !== "open" || this.#failure !== undefined) this.#stopTimers();
    else await this.abort("disposed");
  }

  /** If it fails, the message is still open for a retry. */
  async #end(
    how: "commit" | "abort",
    fields: object,
    headers: Record<string, string>,
  ): Promise<Entry> {
    this.#check();
    this.#state = "ending";
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    try {
      const entry = await this.#inTurn(() => this.#sendEnd(how, fields, headers));
      this.#state = "ended";
      this.#stopTimers();
      return entry;
    } catch (error) {
      this.#state = "open";
      throw error;
    }
  }

  async #sendEnd(
    how: "commit" | "abort",
    fields: object,
    headers: Record<string, string>,
  ): Promise<Entry> {
    // Before the commit, not with it: a commit may be repeated, text may not.
    await this.#sendAll();
    try {
      const entry = await this.#connection.call({
        method: "POST",
        path: this.#path(how),
        headers,
        body: toBody({ lease: this.lease, ...fields }),
        onLost: () => {
          this.#isCommitDoubtful = how === "commit";
        },
      });
      return fromWire(ENTRY, entry);
    } catch (error) {
      if (this.#isCommitDoubtful && BackscrollError.is(error, "stream_lost")) {
        // Only the lease's holder can commit: a committed message was committed by us.
        const entry = await this.#read();
        if (entry.status === "committed") return entry;
      }
      throw error;
    }
  }

  /** Sends the buffer, each chunk as one store operation. */
  async #sendAll(): Promise<void> {
    await this.#clearDoubt();
    while (!this.#buffer.isEmpty) await this.#sendPiece(this.#buffer.take());
  }

  async #sendPiece(chunks: readonly SentChunk[]): Promise<void> {
    try {
      await this.#post({ lease: this.lease, chunks: chunks.map(toWireChunk) });
      this.#stored = addSize(this.#stored, sizeOfChunks(chunks));
    } catch (error) {
      this.#doubtful = chunks;
      throw error;
    }
  }

  /** Reads the stored length, if unknown. */
  async #clearDoubt(): Promise<void> {
    const chunks = this.#doubtful;
    if (chunks === undefined) return;
    const { status, blocks } = await this.#read();
    const held = sizeOfBlocks(blocks);
    const arrived = addSize(this.#stored, sizeOfChunks(chunks));
    if (status !== "pending") throw streamLost(this.id);
    if (isSameSize(held, arrived)) this.#stored = arrived;
    else if (isSameSize(held, this.#stored)) this.#buffer.putBack(chunks);
    else throw streamLost(this.id);
    this.#doubtful = undefined;
  }

  async #sendRenewal(): Promise<void> {
    await this.#post({ lease: this.lease });
  }

  async #post(fields: object): Promise<void> {
    await this.#connection.call({
      method: "POST",
      path: this.#path("chunks"),
      body: toBody(fields),
    });
  }

  async #read(): Promise<Entry> {
    const path = at`/v1/entries/${this.id}`;
    return fromWire(ENTRY, await this.#connection.call({ method: "GET", path }));
  }

  #path(how: string): string {
    return at`/v1/sessions/${this.sessionId}/streams/${this.id}/` + how;
  }

  /** Runs after all earlier requests. A permanent failure is remembered. */
  async #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = this.#queue.then(run);
    this.#queue = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      if (isFinal(error)) {
        this.#failure = error;
        this.#stopTimers();
      }
      throw error;
    }
  }

  /** In the background: the next call reports a lost message, and a failed flush is retried. */
  #inBackground(run: () => Promise<void>): void {
    if (this.#state !== "open" || this.#failure !== undefined) return;
    this.#inTurn(run).catch(() => {
      if (this.#failure === undefined && this.#state === "open") this.#flushLater();
    });
  }

  #flushLater(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined;
      this.#inBackground(() => this.#sendAll());
    }, FLUSH_MS);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#state !== "open") throw streamLost(this.id);
  }

  #stopTimers(): void {
    this.#connection.openMessages.delete(this);
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    clearInterval(this.#leaseTimer);
  }
}

function toWireChunk(chunk: SentChunk): unknown {
  return typeof chunk === "string" ? chunk : toWireBlock(chunk);
}

function streamLost(id: string): BackscrollError {
  return new BackscrollError("stream_lost", `message ${id} was ended already`, {
    details: { entryId: id },
  });
}

/** Permanent failures. */
const FINAL: readonly ErrorCode[] = [
  "stream_lost",
  "entry_not_found",
  "session_not_found",
  "too_large",
  "store_closed",
  "unauthorized",
  "forbidden",
];

function isFinal(error: unknown): boolean {
  return BackscrollError.is(error) && FINAL.includes(error.code);
}

type SentChunk = Chunk;

/**
 * The server stores a request's content at once, or in parts of this size: a smaller chunk is
 * atomic.
 */
const PIECE_CHARACTERS = 64 * 1024;
/** The size that the server assumes for a block. */
const BLOCK_CHARACTERS: number = PIECE_CHARACTERS / 16;

/** The unsent part of an open message, in chunks that the store takes atomically. */
class WriteBuffer {
  #chunks: Chunk[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** More than one store operation should carry. */
  get isFull(): boolean {
    return this.#length >= PIECE_CHARACTERS;
  }

  add(chunk: Chunk): void {
    if (chunk === "") return;
    this.#length += lengthOf(chunk);
    const last = this.#chunks.at(-1);
    if (typeof chunk === "string" && typeof last === "string") {
      this.#chunks[this.#chunks.length - 1] = last + chunk;
    } else this.#chunks.push(chunk);
  }

  /** The next chunk, up to one operation's size. */
  take(): readonly Chunk[] {
    let length = 0;
    let count = 0;
    while (count < this.#chunks.length && length < PIECE_CHARACTERS) {
      length += lengthOf(this.#chunks[count] as Chunk);
      count++;
    }
    this.#length -= length;
    return this.#chunks.splice(0, count);
  }

  putBack(chunks: readonly Chunk[]): void {
    this.#chunks.unshift(...chunks);
    for (const chunk of chunks) this.#length += lengthOf(chunk);
  }
}

function lengthOf(chunk: Chunk): number {
  return typeof chunk === "string" ? chunk.length : BLOCK_CHARACTERS;
}

/**
 * The length of a message, computed alike for sent and stored content.
 *
 * Neighbouring texts may have been joined; their total length stays.
 */
interface Size {
  readonly characters: number;
  readonly blocks: number;
}

const NO_SIZE: Size = { characters: 0, blocks: 0 };

function sizeOfBlocks(blocks: readonly Block[]): Size {
  return blocks.reduce(
    (sum, block) =>
      addSize(
        sum,
        block.type === "text"
          ? { characters: block.text.length, blocks: 0 }
          : { characters: 0, blocks: 1 },
      ),
    NO_SIZE,
  );
}

function sizeOfChunks(chunks: readonly Chunk[]): Size {
  return sizeOfBlocks(
    chunks.map((chunk) => (typeof chunk === "string" ? { type: "text", text: chunk } : chunk)),
  );
}

function addSize(a: Size, b: Size): Size {
  return { characters: a.characters + b.characters, blocks: a.blocks + b.blocks };
}

function isSameSize(a: Size, b: Size): boolean {
  return a.characters === b.characters && a.blocks === b.blocks;
}
