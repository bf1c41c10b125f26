/**
 * Zero-copy transfer of an append to the writer's thread.
 *
 * The content of a history travels as bytes in a transferred buffer: the writer needs bytes, and
 * encoding a cloned text there would cost as much as storing it. Payloads too: the clone of a view
 * copies its whole underlying buffer, about ten payloads large.
 */

import { NONCE_BYTES } from "../../../transcript/hash.ts";
import type { AppendRequest, NewEntry } from "../../records.ts";

export interface AppendParcel {
  readonly tenant: string;
  /** Without the payloads' bytes and a history's content. */
  readonly request: AppendRequest;
  /** Sizes in bytes, per entry: its content, if it is a history's, then each payload. */
  readonly sizes: readonly number[];
  /** The bytes that `sizes` measures; each content follows room for its nonce. Null: none. */
  readonly contents: ArrayBuffer | null;
}

const NOTHING = new Uint8Array(0);

export function packAppend(tenant: string, request: AppendRequest): AppendParcel {
  const { entries, isHistory = false } = request;
  const sizes: number[] = [];
  let room = 0;
  for (const { content, payloads } of entries) {
    if (isHistory) {
      const size = Buffer.byteLength(content);
      sizes.push(size);
      room += NONCE_BYTES + size;
    }
    for (const { bytes } of payloads) {
      sizes.push(bytes.length);
      room += bytes.length;
    }
  }
  if (room === 0) return { tenant, request, sizes, contents: null };
  // Not pooled: the buffer is transferred.
  const contents = Buffer.allocUnsafeSlow(room);
  let end = 0;
  const bare = entries.map((entry) => {
    if (isHistory) {
      end += NONCE_BYTES;
      end += contents.write(entry.content, end);
    }
    const payloads = entry.payloads.map(({ hash, bytes }) => {
      contents.set(bytes, end);
      end += bytes.length;
      return { hash, bytes: NOTHING };
    });
    return { ...entry, content: isHistory ? "" : entry.content, payloads };
  });
  return { tenant, request: { ...request, entries: bare }, sizes, contents: contents.buffer };
}

/** The unpacked arguments of `append`; `encoded` has the content of a history. */
export function unpackAppend(parcel: AppendParcel): [string, AppendRequest] {
  const { tenant, request, sizes, contents } = parcel;
  if (contents === null) return [tenant, request];
  const { isHistory = false } = request;
  let part = 0;
  let start = 0;
  const entries = request.entries.map((entry): NewEntry => {
    let encoded: Buffer | undefined;
    if (isHistory) {
      encoded = Buffer.from(contents, start, NONCE_BYTES + (sizes[part++] as number));
      start += encoded.length;
    }
    const payloads = entry.payloads.map(({ hash }) => {
      const bytes = new Uint8Array(contents, start, sizes[part++] as number);
      start += bytes.length;
      return { hash, bytes };
    });
    return encoded === undefined ? { ...entry, payloads } : { ...entry, payloads, encoded };
  });
  return [tenant, { ...request, entries }];
}
