/**
 * A stream of chunks as records. The head of a chat names its newest stream and that stream's
 * state; each batch of chunks is a record of its own.
 *
 * A batch is written together with the head, by compare-and-swap on the head's version (fencing):
 * an abandoned producer writes nothing more.
 */

import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonValue } from "../../model/json.ts";

/** A chunk of the SDK's UI message stream; its other fields are the SDK's. */
export interface ChunkLike {
  readonly type: string;
}

/** `stopping`: a stop was requested, and the producer has not answered yet. */
type StreamState = "open" | "stopping" | "done" | "aborted";

export interface StreamHead {
  readonly stream: string;
  readonly state: StreamState;
  /** The number of written batches. */
  readonly batches: number;
}

export interface SeenHead extends StreamHead {
  readonly version: string;
}

/** Digits of a batch's number in its key, padded so that keys sort by number. */
const DIGITS = 9;

export class StreamRecords {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  /** The time to live of records, in seconds. */
  readonly #ttl: number;

  constructor(records: RecordsApi, namespace: string, keepSeconds: number) {
    this.#records = records;
    this.#namespace = namespace;
    this.#ttl = keepSeconds;
  }

  async findHead(chatId: string): Promise<SeenHead | undefined> {
    const record = await this.#records.find(this.#namespace, headKey(chatId));
    return record && { ...(record.value as unknown as StreamHead), version: record.version };
  }

  /** Starts a stream, which supersedes the previous one. */
  async begin(chatId: string, stream: string): Promise<string> {
    const head: StreamHead = { stream, state: "open", batches: 0 };
    return (await this.#records.put(this.#head(chatId, head))).version;
  }

  /**
   * Compare-and-swap: writes the head, and a batch if there are chunks. Undefined if the head has
   * changed.
   */
  async advance(
    chatId: string,
    head: StreamHead,
    chunks: readonly ChunkLike[],
    expectedVersion: string,
  ): Promise<string | undefined> {
    const batch = {
      namespace: this.#namespace,
      key: batchKey(head.stream, head.batches),
      value: chunks as unknown as JsonValue,
      ttl: this.#ttl,
    };
    const puts = [
      { put: { ...this.#head(chatId, head), expectedVersion } },
      ...(chunks.length === 0 ? [] : [{ put: batch }]),
    ];
    try {
      const [info] = await this.#records.write(puts);
      return info?.version;
    } catch (error) {
      if (BackscrollError.is(error, "record_conflict")) return undefined;
      throw error;
    }
  }

  /**
   * The chunks of the batches after `after` up to `upTo`, and the number of the last batch read.
   */
  async readAfter(
    stream: string,
    after: number,
    upTo: number,
  ): Promise<{ readonly chunks: readonly ChunkLike[]; readonly through: number }> {
    const length = Math.min(BATCHES_AT_ONCE, upTo - after);
    if (length <= 0) return { chunks: [], through: after };
    const page = await this.#records.getMany(
      this.#namespace,
      Array.from({ length }, (_, i) => batchKey(stream, after + 1 + i)),
    );
    const end = page.indexOf(undefined);
    const found = end < 0 ? page : page.slice(0, end);
    return {
      chunks: found.flatMap((record) => record?.value as unknown as ChunkLike[]),
      through: after + found.length,
    };
  }

  #head(chatId: string, head: StreamHead) {
    const value = { stream: head.stream, state: head.state, batches: head.batches };
    return { namespace: this.#namespace, key: headKey(chatId), value, ttl: this.#ttl };
  }
}

/** Batches per read. */
export const BATCHES_AT_ONCE = 64;

function headKey(chatId: string): string {
  return `head/${chatId}`;
}

function batchKey(stream: string, number: number): string {
  return `chunks/${stream}/${String(number).padStart(DIGITS, "0")}`;
}
