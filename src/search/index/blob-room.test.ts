import { expect, test } from "vitest";
import { BlobRoom } from "./blob-room.ts";
import { BLOB_BYTES } from "./layout.ts";

const blob = (byte: number, length = 100) => new Uint8Array(length).fill(byte);

test("the memory of an evicted blob is reused once no computation reads it", () => {
  const room = new BlobRoom();
  room.enter();
  const first = room.copy(blob(1)) as Uint8Array;
  room.enter();
  room.drop(first);
  room.leave();
  const meanwhile = room.copy(blob(2)) as Uint8Array;
  expect(meanwhile.buffer).not.toBe(first.buffer);
  expect(first).toEqual(blob(1));
  room.leave();
  room.enter();
  const later = room.copy(blob(3, 7)) as Uint8Array;
  expect(later.buffer).toBe(first.buffer);
  expect(later).toEqual(blob(3, 7));
});

test("a blob that is larger than a piece stays where it is", () => {
  const room = new BlobRoom();
  expect(room.copy(blob(1, BLOB_BYTES + 1))).toBeUndefined();
  expect(room.copy(blob(1, BLOB_BYTES))).toHaveLength(BLOB_BYTES);
  expect(room.isReused(blob(1))).toBe(false);
});
