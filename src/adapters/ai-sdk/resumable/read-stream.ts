/** The reader of a resumable stream: one that reconnects, possibly on another node. */

import { pause } from "../../../async/pause.ts";
import {
  BATCHES_AT_ONCE,
  type ChunkLike,
  type SeenHead,
  type StreamRecords,
} from "./stream-records.ts";

/** The polling interval. With the producer's flush interval, a chunk arrives well within 300 ms. */
const POLL_MS = 80;

/**
 * All chunks of the stream so far, then the rest as it is written. If the producer sends no
 * heartbeat for `leaseMs`, the stream is abandoned: this reader and all later ones get an `abort`
 * part.
 */
export function readStream<Chunk extends ChunkLike>(
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
