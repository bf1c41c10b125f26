/**
 * Standard input that ends only after all calls are answered: the SDK drops pending calls at the
 * end of its input, and a script such as `printf … | backscroll mcp` closes it at once. The SDK also
 * drops lines that are no message; of these, requests are reported here, so that they get an answer.
 */

import { type Readable, Transform } from "node:stream";
import { deserializeMessage, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { isPlainObject } from "../model/json.ts";

/** How long the end is held back. */
const PATIENCE_MS = 10_000;

/** A request that stays open as long as the connection. */
const ENDLESS = "subscriptions/listen";

/** Bytes of a line beyond which the SDK gives up: such a line is passed on as it comes. */
const MAX_LINE = 10 * 1024 * 1024;

export class PatientInput {
  readonly stream: Transform;
  readonly #pending = new Set<string | number>();
  #isEnding = false;
  #onAnswered: (() => void) | undefined;

  /** `onInvalid` gets the id of each request that is no valid message. */
  constructor(source: Readable, onInvalid: (id: string | number) => void) {
    this.stream = wholeLines((line) => {
      const id = idOfInvalid(line);
      if (id !== undefined) onInvalid(id);
    });
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

/** Passes bytes on by whole lines, and calls `onLine` with each. */
function wholeLines(onLine: (line: string) => void): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.length > MAX_LINE ? bytes.length : bytes.lastIndexOf("\n") + 1;
      rest = bytes.subarray(end);
      for (const line of bytes.toString("utf8", 0, end).split("\n")) if (line !== "") onLine(line);
      done(null, bytes.subarray(0, end));
    },
  });
}

/** Undefined for a valid message, and for a line that has no id to answer to. */
function idOfInvalid(line: string): string | number | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
    deserializeMessage(line);
    return undefined;
  } catch {
    const id = isPlainObject(message) && "method" in message ? message["id"] : undefined;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  }
}
