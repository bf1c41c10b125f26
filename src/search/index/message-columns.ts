/** The columns that a segment stores of each message beside its words. */

import { ByteReader, ByteWriter, u16View } from "./bytes.ts";
import { FACTS_BLOCK } from "./layout.ts";

/** A message's place in its session's tree, and its time. */
export interface MessageFacts {
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  readonly time: number;
}

/** The columns of a segment's messages, in the order of (session, sequence). */
export interface MessageColumns {
  readonly count: number;
  readonly sessions: Uint32Array;
  /** An index into `ROLES`. */
  readonly roles: Uint8Array;
  readonly lengths: Uint16Array;
  /** The lengths of tool outputs. */
  readonly outputs: Uint16Array;
}

export function emptyColumns(count: number): MessageColumns {
  return {
    count,
    sessions: new Uint32Array(count),
    roles: new Uint8Array(count),
    lengths: new Uint16Array(count),
    outputs: new Uint16Array(count),
  };
}

/** The scorer's columns of one field of a chunk: role and length of each message. */
export interface NormColumns {
  readonly count: number;
  readonly roles: Uint8Array;
  readonly lengths: Uint16Array;
  /** See `prepareCodes`. */
  codes: Uint16Array | undefined;
  isUsed: boolean;
}

/** The scorer's columns of a whole chunk, with the session of each message. */
export interface ChunkColumns extends NormColumns {
  readonly sessions: Uint32Array;
  /** Columns of the tool outputs; undefined if there are none. */
  readonly outputs: NormColumns | undefined;
}

export function toChunkColumns(
  { count, roles, lengths }: Pick<NormColumns, "count" | "roles" | "lengths">,
  sessions: Uint32Array,
  outputLengths: Uint16Array | undefined,
): ChunkColumns {
  const unused = { codes: undefined, isUsed: false };
  const outputs = outputLengths && { count, roles, lengths: outputLengths, ...unused };
  return { count, roles, lengths, sessions, outputs, ...unused };
}

/** The longest length that a code holds. */
const MAX_CODED_LENGTH = 0x1fff;

/**
 * Role and length of a message in one number. A length above the limit is stored too small, which
 * makes the score an upper bound, as required.
 */
export function codeAt({ codes, roles, lengths }: NormColumns, document: number): number {
  if (codes !== undefined) return codes[document] as number;
  return toCode(roles[document] as number, lengths[document] as number);
}

/** The codes of `documents` from `from` to `to` (not included), from the start of `into` on. */
export function gatherCodes(
  { codes, roles, lengths }: NormColumns,
  documents: Uint16Array,
  from: number,
  to: number,
  into: Uint16Array,
): void {
  if (codes !== undefined) {
    for (let i = from; i < to; i++) into[i - from] = codes[documents[i] as number] as number;
    return;
  }
  for (let i = from; i < to; i++) {
    const document = documents[i] as number;
    into[i - from] = toCode(roles[document] as number, lengths[document] as number);
  }
}

/**
 * To be called before each scoring. The second call builds all codes: the scorer reads scattered
 * messages, and then has one cache miss each instead of two. A process that searches once does not
 * need them.
 */
export function prepareCodes(columns: NormColumns): void {
  if (columns.codes !== undefined) return;
  if (columns.isUsed) columns.codes = makeCodes(columns);
  columns.isUsed = true;
}

function makeCodes({ count, roles, lengths }: NormColumns): Uint16Array {
  const codes = new Uint16Array(count);
  for (let i = 0; i < count; i++) codes[i] = toCode(roles[i] as number, lengths[i] as number);
  return codes;
}

function toCode(role: number, length: number): number {
  return role | (Math.min(length, MAX_CODED_LENGTH) << 3);
}

export function roleOf(code: number): number {
  return code & 7;
}

export function lengthOf(code: number): number {
  return code >>> 3;
}

/** A flag in the number of a chunk's messages: output lengths follow. */
const HAS_OUTPUTS = 1 << 24;

/** `writer` is empty. */
export function writeChunk(
  columns: MessageColumns,
  from: number,
  to: number,
  writer: ByteWriter,
): void {
  const outputs = columns.outputs.subarray(from, to);
  const hasOutputs = outputs.some((length) => length > 0);
  writer.u32((to - from) | (hasOutputs ? HAS_OUTPUTS : 0));
  writer.array(columns.lengths.subarray(from, to));
  if (hasOutputs) writer.array(outputs);
  writer.array(columns.roles.subarray(from, to));
  let run = 0;
  let previous = 0;
  for (let i = from; i < to; i++) {
    run++;
    const session = columns.sessions[i] as number;
    if (i + 1 === to || columns.sessions[i + 1] !== session) {
      writer.varint(session - previous);
      writer.varint(run);
      previous = session;
      run = 0;
    }
  }
}

export function readChunk(bytes: Uint8Array): ChunkColumns {
  const count = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);
  const lengths = u16View(bytes, 4, count);
  const hasOutputs = bytes[3] === HAS_OUTPUTS >>> 24;
  const outputs = hasOutputs ? u16View(bytes, 4 + 2 * count, count) : undefined;
  const rest = 4 + (hasOutputs ? 4 : 2) * count;
  const roles = bytes.subarray(rest, rest + count);
  const sessions = new Uint32Array(count);
  const reader = new ByteReader(bytes, rest + count);
  let session = 0;
  for (let at = 0; at < count; ) {
    session += reader.varint();
    const end = at + reader.varint();
    sessions.fill(session, at, end);
    at = end;
  }
  return toChunkColumns({ count, roles, lengths }, sessions, outputs);
}

/** Columns that only hits, branches and time filters read. */
export interface FactsColumns {
  readonly sequences: Uint32Array;
  readonly chains: Uint32Array;
  readonly depths: Uint32Array;
  readonly times: Float64Array;
}

export function emptyFacts(count: number = FACTS_BLOCK): FactsColumns {
  return {
    sequences: new Uint32Array(count),
    chains: new Uint32Array(count),
    depths: new Uint32Array(count),
    times: new Float64Array(count),
  };
}

/** Mostly ones and small differences: about seven bytes a message. */
export function writeFacts(columns: FactsColumns, from: number, to: number): Uint8Array {
  const writer = new ByteWriter();
  const { sequences, chains, depths, times } = columns;
  let [sequence, chain, depth, time] = [0, 0, 0, 0];
  for (let i = from; i < to; i++) {
    writer.signed((sequences[i] as number) - sequence);
    writer.signed((chains[i] as number) - chain);
    writer.signed((depths[i] as number) - depth);
    writer.signed((times[i] as number) - time);
    sequence = sequences[i] as number;
    chain = chains[i] as number;
    depth = depths[i] as number;
    time = times[i] as number;
  }
  return writer.take();
}

/** The facts of a block of messages. */
export function readFacts(bytes: Uint8Array, into: FactsColumns = emptyFacts()): FactsColumns {
  const reader = new ByteReader(bytes);
  const { sequences, chains, depths, times } = into;
  let [sequence, chain, depth, time] = [0, 0, 0, 0];
  for (let i = 0; !reader.done; i++) {
    sequences[i] = sequence += reader.signed();
    chains[i] = chain += reader.signed();
    depths[i] = depth += reader.signed();
    times[i] = time += reader.signed();
  }
  return into;
}

/** The facts of message `at` of a block, without decoding later ones. */
export function readFactsAt(bytes: Uint8Array, at: number): MessageFacts {
  const reader = new ByteReader(bytes);
  let [sequence, chain, depth, time] = [0, 0, 0, 0];
  for (let i = 0; i <= at; i++) {
    const a = bytes[reader.at] ?? 0;
    const b = bytes[reader.at + 1] ?? 0;
    const c = bytes[reader.at + 2] ?? 0;
    if ((a | b | c) < 0x80) {
      // Within a session these are small: a byte each.
      sequence += fromByte(a);
      chain += fromByte(b);
      depth += fromByte(c);
      reader.at += 3;
    } else {
      sequence += reader.signed();
      chain += reader.signed();
      depth += reader.signed();
    }
    time += reader.signed();
  }
  return { sequence, chain, depth, time };
}

/** Zig-zag decoding of a one-byte number. */
function fromByte(byte: number): number {
  return (byte >>> 1) ^ -(byte & 1);
}
