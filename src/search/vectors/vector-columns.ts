/** The subjects of a slab's vectors, in columns. */

import { ByteReader, ByteWriter } from "../index/bytes.ts";

export interface VectorColumns {
  readonly count: number;
  readonly sessions: Uint32Array;
  readonly sequences: Uint32Array;
  /** The number of messages after the first in the vector's piece. */
  readonly spans: Uint8Array;
  readonly roles: Uint8Array;
  /** Epoch seconds, rounded down. */
  readonly seconds: Uint32Array;
}

export function emptyVectorColumns(count: number): VectorColumns {
  return {
    count,
    sessions: new Uint32Array(count),
    sequences: new Uint32Array(count),
    spans: new Uint8Array(count),
    roles: new Uint8Array(count),
    seconds: new Uint32Array(count),
  };
}

/** Delta-coded: about five bytes per vector. */
export function writeVectorColumns(columns: VectorColumns, count: number): Uint8Array {
  const writer = new ByteWriter();
  const { sessions, sequences, spans, roles, seconds } = columns;
  writer.varint(count);
  let [session, sequence, second] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    writer.signed((sessions[i] as number) - session);
    writer.signed((sequences[i] as number) - sequence);
    writer.u8(spans[i] as number);
    writer.u8(roles[i] as number);
    writer.signed((seconds[i] as number) - second);
    session = sessions[i] as number;
    sequence = sequences[i] as number;
    second = seconds[i] as number;
  }
  return writer.take();
}

export function readVectorColumns(bytes: Uint8Array): VectorColumns {
  const reader = new ByteReader(bytes);
  const columns = emptyVectorColumns(reader.varint());
  const { sessions, sequences, spans, roles, seconds } = columns;
  let [session, sequence, second] = [0, 0, 0];
  for (let i = 0; i < columns.count; i++) {
    sessions[i] = session += reader.signed();
    sequences[i] = sequence += reader.signed();
    spans[i] = bytes[reader.at++] as number;
    roles[i] = bytes[reader.at++] as number;
    seconds[i] = second += reader.signed();
  }
  return columns;
}
