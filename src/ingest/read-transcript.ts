/**
 * Reads one transcript of any format. The formats are loaded on the first read: most programs that
 * open a store read none, and loading all is a tenth of a start.
 */

import { BackscrollError } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { type Line, splitLines } from "./lines.ts";
import type { ImportedTranscript, TranscriptSource } from "./source.ts";

export interface ReadTranscriptInput {
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The source path; empty if there is none. */
  readonly path?: string;
  /** The format's name. Default: detected by content. */
  readonly source?: string;
  /** Longer lines are skipped. Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** A transformation of the lines before the reader. */
  readonly prepare?: (lines: AsyncIterable<Line>) => AsyncIterable<Line>;
}

/** Detects a transcript's format and reads it. Throws `unknown_format`. */
export async function readTranscript(
  input: ReadTranscriptInput,
): Promise<ImportedTranscript & { readonly source: string }> {
  const { path = "" } = checkFields(input, "input", INPUTS.readTranscript);
  const chunks = iterate(input.bytes);
  const read: Uint8Array[] = [];
  const start = remember(chunks, read);
  const source = await findSource(start, path, input.source);
  const all = chain(read, chunks);
  const { maxLineBytes: maxBytes } = input;
  const split = splitLines(all, maxBytes === undefined ? {} : { maxBytes });
  const lines = input.prepare?.(split) ?? split;
  return { ...source.read({ path, lines, bytes: all }), source: source.name };
}

async function findSource(
  start: Start,
  path: string,
  name: string | undefined,
): Promise<TranscriptSource> {
  const { HEAD_BYTES, recogniseSource, recogniseStart, SOURCES } = await import("./sources.ts");
  const known = SOURCES.map((source) => source.name).join(", ");
  if (name !== undefined) {
    const named = SOURCES.find((source) => source.name === name);
    if (named !== undefined) return named;
    throw unknownFormat(`there is no format ${name}; known are ${known}`, path);
  }
  const head = await start.head(HEAD_BYTES);
  const found = await recogniseStart(head, start.whole, (part) => recogniseSource(part, path));
  if (found !== undefined) return found;
  const what = path === "" ? "the input" : path;
  const why = head.length === 0 ? "is empty" : "is not a transcript of a known format";
  throw unknownFormat(`${what} ${why}; known are ${known}`, path);
}

function unknownFormat(message: string, file: string): BackscrollError {
  return new BackscrollError("unknown_format", message, { details: { file } });
}

async function* iterate(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

async function* chain(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  yield* rest;
}

interface Start {
  /** The first bytes, as far as there are any. */
  head(length: number): Promise<Uint8Array>;
  /** All bytes from the start. */
  whole(): AsyncGenerator<Uint8Array>;
}

/** Keeps in `read` what is taken from `chunks`: the reader needs it again. */
function remember(chunks: AsyncGenerator<Uint8Array>, read: Uint8Array[]): Start {
  async function* whole(): AsyncGenerator<Uint8Array> {
    for (let i = 0; ; i++) {
      if (i === read.length) {
        const next = await chunks.next();
        if (next.done) return;
        // Copy: the file reader reuses its buffer.
        read.push(new Uint8Array(next.value));
      }
      yield read[i] as Uint8Array;
    }
  }
  return {
    whole,
    head: async (length) => {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of whole()) {
        parts.push(chunk);
        size += chunk.length;
        if (size >= length) break;
      }
      return Buffer.concat(parts).subarray(0, length);
    },
  };
}
