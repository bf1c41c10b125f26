/**
 * A message that is written piece by piece.
 *
 * Pieces are stored within the flush interval, so that subscribers see them and a crash loses
 * little; the commit makes them part of the conversation at once. Flushes and the commit run in
 * order.
 */

import { randomUUID } from "node:crypto";
import type { BlockInput } from "../model/block.ts";
import { type Entry, ROLES, type Role } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkName } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { JsonObject } from "../model/json.ts";
import { MAX_BLOCKS } from "../model/limits.ts";
import { pendingChunks } from "../store/plan/plan-stream.ts";
import { entryNotFound } from "../store/store-errors.ts";
import type { Chunk } from "../transcript/chunks.ts";
import { normalizeBlock } from "../transcript/normalize.ts";
import { checkInput, checkKey, checkMetadata, checkOneOf, invalid, tooLarge } from "./check.ts";
import { takeContextSize } from "./context/estimate-calls.ts";
import type { EngineContext } from "./engine-context.ts";
import { toEntry } from "./entry-view.ts";
import { idempotency } from "./idempotency.ts";
import { type CommitInput, toCommitRequest } from "./writing/commit-input.ts";

/** A larger buffer is flushed at once. */
const FLUSH_CHARACTERS = 64 * 1024;

export interface OpenMessageInput {
  readonly role: Role;
  readonly actor?: string;
  readonly model?: string;
  readonly adapter?: string;
  readonly metadata?: JsonObject;
  /** Opening again under the same key takes over the message of a dead writer. */
  readonly idempotencyKey?: string;
}

export async function openMessage(
  engine: EngineContext,
  sessionId: string,
  input: OpenMessageInput,
): Promise<MessageStream> {
  checkInput(input, "message", INPUTS.openMessage);
  const name = (value: string | undefined, field: string) =>
    value === undefined ? null : checkName(value, field);
  const request = {
    sessionId,
    role: checkOneOf(input.role, ROLES, "role"),
    actor: name(input.actor, "actor"),
    model: name(input.model, "model"),
    adapter: name(input.adapter, "adapter"),
    metadata: input.metadata === undefined ? null : JSON.stringify(checkMetadata(input.metadata)),
  };
  const holder = randomUUID();
  const { id } = await engine.store.openStream(engine.tenant, {
    ...request,
    id: engine.newId(),
    holder,
    leaseMs: engine.leaseMs,
    now: engine.now(),
    ...idempotency(input.idempotencyKey, () => ["open", request]),
  });
  return new MessageStream(engine, sessionId, id, holder, request);
}

/**
 * Continues a message opened elsewhere, by its lease. For stateless hosts: write, then `detach`.
 */
export async function continueMessage(
  engine: EngineContext,
  sessionId: string,
  id: string,
  lease: string,
): Promise<MessageStream> {
  const pending = await engine.store.findPending(engine.tenant, checkKey(id, "entryId"));
  const opened = pending ?? (await engine.store.findEntries(engine.tenant, [id], false)).entries[0];
  if (opened === undefined || opened.sessionId !== sessionId) throw entryNotFound(id, sessionId);
  // An ended message refuses writes, but a commit may be repeated.
  const { role, model } = opened;
  return new MessageStream(engine, sessionId, id, checkKey(lease, "lease"), {
    role: role ?? "assistant",
    model,
    earlier: pending === undefined ? [] : pendingChunks(pending),
  });
}

interface Opened {
  readonly role: Role;
  readonly model: string | null;
  /** Chunks stored by other writers. */
  readonly earlier?: readonly Chunk[];
}

export class MessageStream {
  /** The id of the pending message; the committed one keeps it. */
  readonly id: string;
  readonly sessionId: string;
  /** The handle for `continueMessage` in another process. A secret. */
  readonly lease: string;
  readonly #engine: EngineContext;
  readonly #opened: Opened;
  #buffer: Chunk[] = [];
  #buffered = 0;
  #flushTimer: NodeJS.Timeout | undefined;
  readonly #leaseTimer: NodeJS.Timeout;
  /** The queue of flushes. */
  #flushed: Promise<void> = Promise.resolve();
  /** The permanent failure, if the message is lost. */
  #failure: unknown;
  /** The last flush's transient failure; it is retried. */
  #setback: unknown;
  /** Its content so far, including pieces of other writers. */
  #blocks = 0;
  #endsWithText = false;
  /** Estimated tokens of the message, if no usage is reported. */
  #writtenTokens = 1;
  /** A commit or an abort is in progress. */
  #ending = false;
  #ended = false;

  constructor(engine: EngineContext, sessionId: string, id: string, lease: string, opened: Opened) {
    this.id = id;
    this.sessionId = sessionId;
    this.lease = lease;
    this.#engine = engine;
    this.#opened = opened;
    for (const chunk of opened.earlier ?? []) this.#countBlock(chunk);
    // A model may think for minutes before its first word: renew the lease meanwhile.
    this.#leaseTimer = setInterval(() => this.#send(null), engine.leaseMs / 3);
    this.#leaseTimer.unref();
    engine.openMessages.add(this);
  }

  /** The message expires this long after the writer's last renewal. */
  get leaseMs(): number {
    return this.#engine.leaseMs;
  }

  /**
   * Adds text or a whole block. Resolves at once, or after a flush when the buffer is large;
   * rejects if an earlier flush failed, with `stream_lost` if the message is no longer ours.
   */
  async write(chunk: string | BlockInput): Promise<void> {
    this.hold(chunk);
    if (this.#buffered >= FLUSH_CHARACTERS) return this.flush();
    if (this.#buffer.length > 0) this.#flushLater();
  }

  /** Buffers text or a whole block; the next flush, commit or abort stores it atomically. */
  hold(chunk: string | BlockInput): void {
    this.#check();
    const piece = typeof chunk === "string" ? chunk : normalizeBlock(chunk, "chunk");
    if (piece === "") return;
    this.#countBlock(piece);
    this.#buffer.push(piece);
    this.#writtenTokens += this.#countTokens(piece);
    this.#buffered += typeof piece === "string" ? piece.length : FLUSH_CHARACTERS / 16;
  }

  /** Neighbouring texts are one block. */
  #countBlock(piece: Chunk): void {
    const isText = typeof piece === "string";
    const blocks = this.#blocks + (isText && this.#endsWithText ? 0 : 1);
    if (blocks > MAX_BLOCKS) {
      throw tooLarge("blocks in one message", MAX_BLOCKS, blocks, "commit it, and open another");
    }
    this.#blocks = blocks;
    this.#endsWithText = isText;
  }

  /** Flushes the buffer now. */
  async flush(): Promise<void> {
    this.#check();
    this.#setback = undefined;
    this.#flushInBackground();
    // A concurrent commit may have taken the buffer.
    await this.#settled();
  }

  /**
   * Makes the message part of the conversation: durable, counted, searchable. Throws the reason of
   * `signal` if it is aborted before the store gets the commit; the message then stays open.
   */
  async commit(input: CommitInput = {}, signal?: AbortSignal): Promise<Entry> {
    this.#check();
    const request = toCommitRequest(input);
    const { contextSizes, store, tenant } = this.#engine;
    const { sessionId, id } = this;
    if (request.supersedes === id) {
      throw invalid("supersedes", `message ${id} cannot supersede itself; name another entry`);
    }
    const key = idempotency(input.idempotencyKey, () => ["commit", id, request]);
    const isCall = this.#opened.role === "assistant" && request.usage === null;
    const isUnmeasured = isCall && (request.model ?? this.#opened.model) !== null;
    return this.#endWith(async (chunks) => {
      const size = isUnmeasured
        ? await takeContextSize(this.#engine, sessionId, input.parent)
        : undefined;
      let tokens = (size?.tokens ?? 0) + this.#writtenTokens;
      for (const chunk of this.#opened.earlier ?? []) tokens += this.#countTokens(chunk);
      signal?.throwIfAborted();
      const result = await store.commitStream(tenant, {
        ...request,
        ...(size === undefined ? {} : { estimatedContext: { tokens, after: size.leaf } }),
        sessionId,
        id,
        holder: this.lease,
        chunks,
        now: this.#engine.now(),
        ...key,
      });
      if (size !== undefined) contextSizes.observe(tenant, sessionId, size, tokens, result);
    });
  }

  /** Aborts the message, which stays outside the conversation. The text so far is kept. */
  async abort(reason = "aborted"): Promise<Entry> {
    this.#check();
    checkName(reason, "reason");
    const { store, tenant } = this.#engine;
    return this.#endWith((chunks) =>
      store.abortStream(tenant, {
        id: this.id,
        holder: this.lease,
        chunks,
        reason,
        now: this.#engine.now(),
      }),
    );
  }

  /** Flushes the buffer and leaves the message open for the holder of its lease. */
  async detach(): Promise<void> {
    try {
      if (!this.#ended) await this.flush();
    } finally {
      this.#stopTimers();
    }
  }

  /** Leaves the message open as stored and drops the buffer. */
  leave(): void {
    this.#stopTimers();
  }

  /** Renews the lease without a write. */
  async renew(): Promise<void> {
    this.#check();
    this.#send(null);
    await this.#settled();
  }

  /** Aborts a message that is still open, so that `await using` leaves none open. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended || this.#ending || this.#failure !== undefined) this.#stopTimers();
    else await this.abort("disposed");
  }

  /** If `end` fails, the message stays open and the buffer is restored. */
  async #endWith(end: (chunks: string | null) => Promise<unknown>): Promise<Entry> {
    this.#ending = true;
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    await this.#flushed;
    if (this.#failure !== undefined) throw this.#failure;
    const chunks = this.#takeBuffer();
    try {
      await end(chunks);
    } catch (error) {
      this.#ending = false;
      this.#putBack(chunks);
      throw error;
    }
    this.#end();
    return this.#read();
  }

  #countTokens(chunk: Chunk): number {
    const { counter } = this.#engine;
    return typeof chunk === "string" ? counter.countText(chunk) - 1 : counter.countBlock(chunk);
  }

  #putBack(chunks: string | null): void {
    if (chunks === null) return;
    this.#buffer.unshift(...(JSON.parse(chunks) as Chunk[]));
    this.#buffered += chunks.length;
  }

  #takeBuffer(): string | null {
    if (this.#buffer.length === 0) return null;
    const chunks = JSON.stringify(this.#buffer);
    this.#buffer = [];
    this.#buffered = 0;
    return chunks;
  }

  #flushLater(): void {
    this.#flushTimer ??= setTimeout(() => this.#flushInBackground(), this.#engine.flushMs);
  }

  #flushInBackground(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const chunks = this.#takeBuffer();
    if (chunks !== null) this.#send(chunks);
  }

  /**
   * Queues a background flush: the next call reports a lost message, and the next flush retries one
   * that found the store busy.
   */
  #send(chunks: string | null): void {
    this.#flushed = this.#flushed.then(async () => {
      if (this.#ended || this.#failure !== undefined) return;
      const { store, tenant, leaseMs } = this.#engine;
      try {
        const [id, holder, now] = [this.id, this.lease, this.#engine.now()];
        await store.writeStream(tenant, { id, holder, chunks, leaseMs, now });
        this.#setback = undefined;
      } catch (error) {
        if (isFinal(error)) this.#fail(error);
        else this.#postpone(chunks, error);
      }
    });
  }

  async #settled(): Promise<void> {
    await this.#flushed;
    const failure = this.#failure ?? this.#setback;
    if (failure !== undefined) throw failure;
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#stopTimers();
  }

  #postpone(chunks: string | null, error: unknown): void {
    this.#setback = error;
    this.#putBack(chunks);
    if (!this.#ending && chunks !== null) this.#flushLater();
  }

  async #read(): Promise<Entry> {
    const { store, tenant } = this.#engine;
    const page = await store.findEntries(tenant, [this.id], true);
    const record = page.entries[0];
    if (record !== undefined) return toEntry(record, page.payloads);
    throw new BackscrollError("entry_not_found", `message ${this.id} was deleted meanwhile`);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#ended && !this.#ending) return;
    throw streamLost(this.id);
  }

  #end(): void {
    this.#ended = true;
    this.#stopTimers();
  }

  #stopTimers(): void {
    this.#engine.openMessages.delete(this);
    clearTimeout(this.#flushTimer);
    clearInterval(this.#leaseTimer);
  }
}

function streamLost(id: string): BackscrollError {
  return new BackscrollError("stream_lost", `message ${id} was ended already`, {
    details: { entryId: id },
  });
}

/** Whether the failure is permanent. */
function isFinal(error: unknown): boolean {
  const codes = ["stream_lost", "entry_not_found", "too_large", "store_closed"];
  return BackscrollError.is(error) && codes.includes(error.code);
}
