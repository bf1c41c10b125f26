/** Several byte strings in one value of a record: the length of a header in JSON, the header, the parts. */

import { BackscrollError } from "../../model/errors.ts";

const LENGTH_BYTES = 4;

/** A serializer's result: the name of its form, and the bytes. */
export type Dumped = readonly [type: string, bytes: Uint8Array];

export interface Frame<Header> {
  readonly header: Header;
  readonly parts: readonly Dumped[];
}

export function toFrame<Header>(header: Header, parts: readonly Dumped[]): Uint8Array {
  const sizes = parts.map(([type, { length }]) => [type, length]);
  const text = Buffer.from(JSON.stringify({ header, sizes }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, ...parts.map(([, bytes]) => bytes)]);
}

export function fromFrame<Header>(value: unknown, name: string): Frame<Header> {
  if (!(value instanceof Uint8Array)) throw damaged(name);
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  try {
    let end = LENGTH_BYTES + bytes.readUInt32BE();
    const text = bytes.subarray(LENGTH_BYTES, end).toString();
    const { header, sizes } = JSON.parse(text) as {
      readonly header: Header;
      readonly sizes: readonly (readonly [string, number])[];
    };
    const parts = sizes.map(([type, size]): Dumped => {
      const start = end;
      end += size;
      return [type, bytes.subarray(start, end)];
    });
    if (end === bytes.length) return { header, parts };
  } catch (cause) {
    throw damaged(name, cause);
  }
  throw damaged(name);
}

function damaged(name: string, cause?: unknown): BackscrollError {
  return new BackscrollError(
    "store_corrupt",
    `record ${name} does not have the form that this checkpointer writes`,
    { details: { record: name }, cause },
  );
}
