import { expect, test } from "vitest";
import { BinaryCopy } from "./binary-copy.ts";

const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const END = Buffer.from([0xff, 0xff]);

function row(rank: number, bytes: Buffer | null): Buffer {
  const head = Buffer.alloc(18);
  head.writeInt16BE(2, 0);
  head.writeInt32BE(8, 2);
  head.writeBigInt64BE(BigInt(rank), 6);
  head.writeInt32BE(bytes?.length ?? -1, 14);
  return Buffer.concat([head, bytes ?? Buffer.alloc(0)]);
}

test("rows are read across any chunk boundaries", () => {
  const bytes = Buffer.from([0, 255, 128, 10, 92]);
  const whole = Buffer.concat([HEADER, row(2 ** 40 + 7, bytes), row(2, null), row(3, END), END]);
  for (let size = 1; size <= whole.length; size++) {
    const copy = new BinaryCopy("", { rank: "number", bytes: "bytes" }, () => undefined);
    for (let at = 0; at < whole.length; at += size) {
      // The driver reuses its memory.
      const chunk = Buffer.from(whole.subarray(at, at + size));
      copy.handleCopyData({ chunk });
      chunk.fill(1);
    }
    expect(copy.received).toEqual([
      { rank: 2 ** 40 + 7, bytes },
      { rank: 2, bytes: null },
      { rank: 3, bytes: END },
    ]);
  }
});
