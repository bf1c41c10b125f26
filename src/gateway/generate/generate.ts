/** Answers in a stored conversation: `generate` at once, `generateStream` as it arrives. */

import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { BackscrollError } from "../../model/errors.ts";
import { overflowOf } from "../../providers/model-failure.ts";
import type { GenerateInput, GeneratePart, GenerateResult } from "./generate-options.ts";
import { runGenerate } from "./run-generate.ts";

/**
 * A replayable broadcast of answer parts: each reader gets all parts from the first, at its own
 * pace.
 *
 * All parts of one answer stay in memory until the queue is collected.
 */
class PartQueue<Part> {
  readonly #parts: Part[] = [];
  #waiting: (() => void)[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  push(part: Part): void {
    this.#parts.push(part);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Readers get the error after the last part. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *read(): AsyncGenerator<Part, void> {
    for (let next = 0; ; next++) {
      while (next >= this.#parts.length) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
      yield this.#parts[next] as Part;
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

export interface GenerateStream<Result extends GenerateResult = GenerateResult>
  extends AsyncIterable<GeneratePart> {
  /** The text to deliver; empty if the answer is silent. */
  readonly textStream: AsyncIterable<string>;
  /** Resolves once everything is stored. Rejects as `generate` does. */
  readonly result: Promise<Result>;
}

/**
 * Stores the message, calls the model, runs tools until it stops, stores the answer, and compacts
 * if the policy says so. Throws `model_failed`; the user's message stays stored, and a call without
 * `message` retries.
 */
export function generate(memory: TenantEngine, input: GenerateInput): Promise<GenerateResult> {
  return runGenerate(memory, input, () => undefined);
}

/** The same as a stream. It starts at once, independent of its reader: only the signal stops it. */
export function generateStream(memory: TenantEngine, input: GenerateInput): GenerateStream {
  return streamOf((tell) => runGenerate(memory, input, tell));
}

/** Wraps the parts and the result of `run` as a stream. */
export function streamOf<Result extends GenerateResult>(
  run: (tell: (part: GeneratePart) => void) => Promise<Result>,
): GenerateStream<Result> {
  const queue = new PartQueue<GeneratePart>();
  const result = run((part) => queue.push(part));
  result.then(
    () => queue.end(),
    (error: unknown) => queue.fail(error),
  );
  return {
    result,
    textStream: texts(queue),
    [Symbol.asyncIterator]: () => queue.read(),
  };
}

function texts(queue: PartQueue<GeneratePart>): AsyncIterable<string> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const part of { [Symbol.asyncIterator]: () => queue.read() }) {
        if (part.type === "text") yield part.text;
      }
    },
  };
}

/**
 * Whether an error means that the context is too long for the model: ours, or one of a provider, the
 * AI SDK or a provider's own package.
 */
export function isOverflow(error: unknown): boolean {
  if (!BackscrollError.is(error)) return overflowOf(error) !== undefined;
  return error.code === "model_failed" && error.details["kind"] === "overflow";
}
