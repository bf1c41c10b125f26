import { constants, createZstdCompress, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { compressPayload, packText, unpackText, unpackZstd } from "./payload-codec.ts";

/** Compressible text. */
function text(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = 97 + ((i * i) % 23);
  return bytes;
}

describe("compressed bytes are decompressed", () => {
  test.each([
    0, 1, 63, 64, 255, 256, 257, 65_791, 65_792, 131_072, 1_048_575, 1_048_576, 5_000_000,
  ])("%d bytes", (length) => {
    const plain = text(length);
    const { codec, bytes } = compressPayload(plain);
    const unpacked = codec === "zstd" ? unpackZstd(bytes) : bytes;
    // `toEqual` compares byte by byte, which takes seconds.
    expect(plain.equals(unpacked)).toBe(true);
    expect(plain.equals(unpackZstd(zstdCompressSync(plain)))).toBe(true);
  });

  test("into one buffer of the exact size", () => {
    const plain = text(100_000);
    expect(unpackZstd(compressPayload(plain).bytes).buffer.byteLength).toBeLessThan(100_100);
  });

  test("also without a size in the header", async () => {
    const plain = text(300_000);
    const stream = createZstdCompress();
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    for (let i = 0; i < plain.length; i += 10_000) stream.write(plain.subarray(i, i + 10_000));
    await new Promise<void>((resolve) => stream.end(resolve));
    const bytes = Buffer.concat(parts);
    expect((bytes[4] ?? 0) & 0x20).toBe(0);
    expect(plain.equals(unpackZstd(bytes))).toBe(true);
  });

  test("also with a checksum, or empty", () => {
    const params = { [constants.ZSTD_c_checksumFlag]: 1 };
    expect(unpackZstd(zstdCompressSync(text(1_000), { params }))).toEqual(text(1_000));
    expect(unpackZstd(zstdCompressSync(Buffer.alloc(0)))).toHaveLength(0);
  });

  test("short texts as they are, long texts compressed", () => {
    for (const plain of ['{"a":1}', JSON.stringify({ long: "ä😀".repeat(1_000) })]) {
      expect(unpackText(packText(plain))).toBe(plain);
    }
  });
});

test("a frame header that claims gigabytes throws without allocating them", () => {
  const bytes = Buffer.from(zstdCompressSync(text(70_000)));
  expect((bytes[4] ?? 0) >> 6).toBe(2);
  bytes.writeUInt32LE(0xffff_ffff, 5);
  expect(() => unpackZstd(bytes)).toThrow();
  expect(() => unpackZstd(bytes.subarray(0, 6))).toThrow();
});
