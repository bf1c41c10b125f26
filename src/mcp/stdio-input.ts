/**
 * Standard input that ends only after all calls are answered: the SDK drops pending calls at the
 * end of its input, and a script such as `printf … | backscroll mcp` closes it at once.
 */

import { PassThrough, type Readable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

/** How long the end is held back. */
const PATIENCE_MS = 10_000;

/** A request that stays open as long as the connection. */
const ENDLESS = "subscriptions/listen";

export class PatientInput {
  readonly stream: PassThrough = new PassThrough();
  readonly #pending = new Set<string | number>();
  #isEnding = false;
  #onAnswered: (() => void) | undefined;

  constructor(source: Readable) {
    source.pipe(this.stream, { end: false });
    const end = () => void this.#end();
    source.once("end", end);
    source.once("close", end);
  }

  received(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) {
      if (message.method !== ENDLESS) this.#pending.add(message.id);
    } else if (message.method === "notifications/cancelled") {
      this.#answered(message.params?.["requestId"]);
    }
  }

  /** Ends the input without waiting for calls in flight. */
  close(): void {
    this.#pending.clear();
    this.#onAnswered?.();
  }

  sent(message: JSONRPCMessage): void {
    if (!("method" in message)) this.#answered(message.id);
  }

  #answered(id: unknown): void {
    this.#pending.delete(id as string | number);
    if (this.#pending.size === 0) this.#onAnswered?.();
  }

  async #end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    while (this.stream.readableLength + this.stream.writableLength > 0 && !this.stream.isPaused()) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#pending.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onAnswered = resolve;
      const timer = setTimeout(resolve, PATIENCE_MS);
      await promise;
      clearTimeout(timer);
    }
    this.stream.end();
  }
}
