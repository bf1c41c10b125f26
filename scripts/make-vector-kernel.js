/**
 * Writes `src/search/vectors/kernel-bytes.ts`: the WebAssembly SIMD kernel that scans one-bit vectors.
 *
 * A small assembler, so that building needs no toolchain. The kernel is the FastScan of product
 * quantisers: codes of 32 vectors lie side by side, four dimensions a nibble, and one byte shuffle
 * looks 16 nibbles up in the table of their four dimensions. `kernel.ts` has the same in JavaScript.
 *
 *   scan(codes, blocks, groups, table, factors, scores, scale, offset)
 *
 * For each block of 32 vectors: sum = Σ over groups of table[group][nibble], in 16 bits;
 * score = (sum * scale - offset) * factor, in 32-bit floats.
 */

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TARGET = join(
  dirname(dirname(fileURLToPath(import.meta.url))),
  "src/search/vectors/kernel-bytes.ts",
);

const [I32, F32, V128] = [0x7f, 0x7d, 0x7b];
const NIBBLES = 16;

/** Unsigned LEB128. @param {number} value @returns {number[]} */
function leb(value) {
  const bytes = [];
  do {
    const rest = value >>> 7;
    bytes.push((value & 0x7f) | (rest > 0 ? 0x80 : 0));
    value = rest;
  } while (value > 0);
  return bytes;
}

/** Signed LEB128, for constants of i32. @param {number} value @returns {number[]} */
function signed(value) {
  const bytes = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const isLast = (value === 0 && (byte & 0x40) === 0) || (value === -1 && (byte & 0x40) !== 0);
    bytes.push(isLast ? byte : byte | 0x80);
    if (isLast) return bytes;
  }
}

/** @param {number} id @param {number[]} body */
const section = (id, body) => [id, ...leb(body.length), ...body];
/** @param {number[][]} items */
const vector = (items) => [...leb(items.length), ...items.flat()];
/** @param {string} text */
const name = (text) => [...leb(text.length), ...Buffer.from(text)];

const get = (/** @type {number} */ local) => [0x20, ...leb(local)];
const set = (/** @type {number} */ local) => [0x21, ...leb(local)];
const i32 = (/** @type {number} */ value) => [0x41, ...signed(value)];
const simd = (/** @type {number} */ code) => [0xfd, ...leb(code)];
const [ADD, SUB] = [[0x6a], [0x6b]];
const load = (offset = 0) => [...simd(0x00), 4, ...leb(offset)];
const store = (offset = 0) => [...simd(0x0b), 4, ...leb(offset)];
const SPLAT8 = simd(0x0f);
const SPLAT_F32 = simd(0x13);
const SWIZZLE = simd(0x0e);
const AND = simd(0x4e);
const SHIFT_RIGHT_8 = simd(0x6d);
const [LOW_8, HIGH_8] = [simd(0x89), simd(0x8a)];
const ADD_16 = simd(0x8e);
const [LOW_16, HIGH_16] = [simd(0xa9), simd(0xaa)];
const TO_FLOAT = simd(0xfb);
const [SUB_F32, MUL_F32] = [simd(0xe5), simd(0xe6)];

// Parameters.
const [codes, blocks, groups, table, factors, scores, scale, offset] = [0, 1, 2, 3, 4, 5, 6, 7];
// Locals: remaining groups, the address of the group's table, and vectors.
const [left, at] = [8, 9];
const [mask, scales, offsets, found, row] = [10, 11, 12, 13, 14];
const sums = [15, 16, 17, 18];

/** Adds the 16 bytes on the stack to two sums of eight. @param {number} first */
const accumulate = (first) => [
  ...set(found),
  ...[...get(sums[first]), ...get(found), ...LOW_8, ...ADD_16, ...set(sums[first])],
  ...[...get(sums[first + 1]), ...get(found), ...HIGH_8, ...ADD_16, ...set(sums[first + 1])],
];

/** Four scores of a sum. @param {number} sum @param {number[]} half @param {number} byte */
const finish = (sum, half, byte) => [
  ...get(scores),
  ...[...get(sums[sum]), ...half, ...TO_FLOAT, ...get(scales), ...MUL_F32],
  ...[...get(offsets), ...SUB_F32, ...get(factors), ...load(byte), ...MUL_F32],
  ...store(byte),
];

const body = [
  ...[...i32(15), ...SPLAT8, ...set(mask)],
  ...[...get(scale), ...SPLAT_F32, ...set(scales)],
  ...[...get(offset), ...SPLAT_F32, ...set(offsets)],
  ...[0x02, 0x40, 0x03, 0x40], // block, loop: over blocks
  ...[...get(blocks), 0x45, 0x0d, 1], // none left: end
  ...sums.flatMap((sum) => [...i32(0), ...SPLAT8, ...set(sum)]),
  ...[...get(groups), ...set(left), ...get(table), ...set(at)],
  ...[0x03, 0x40], // loop: over groups
  ...[...get(codes), ...load(), ...set(row)],
  ...[...get(at), ...load(), ...get(row), ...get(mask), ...AND, ...SWIZZLE],
  ...accumulate(0),
  ...[...get(at), ...load(), ...get(row), ...i32(4), ...SHIFT_RIGHT_8, ...SWIZZLE],
  ...accumulate(2),
  ...[...get(codes), ...i32(NIBBLES), ...ADD, ...set(codes)],
  ...[...get(at), ...i32(NIBBLES), ...ADD, ...set(at)],
  ...[...get(left), ...i32(1), ...SUB, 0x22, ...leb(left), 0x0d, 0],
  0x0b,
  ...sums.flatMap((_, sum) => [
    ...finish(sum, LOW_16, sum * 32),
    ...finish(sum, HIGH_16, sum * 32 + 16),
  ]),
  ...[...get(factors), ...i32(128), ...ADD, ...set(factors)],
  ...[...get(scores), ...i32(128), ...ADD, ...set(scores)],
  ...[...get(blocks), ...i32(1), ...SUB, ...set(blocks)],
  ...[0x0c, 0], // the next block
  ...[0x0b, 0x0b, 0x0b],
];

const locals = vector([
  [...leb(2), I32],
  [...leb(9), V128],
]);
const code = [...locals, ...body];
const module = [
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(
    1,
    vector([[0x60, ...vector([I32, I32, I32, I32, I32, I32, F32, F32].map((t) => [t])), 0]]),
  ),
  ...section(2, vector([[...name("m"), ...name("memory"), 2, 0, 1]])),
  ...section(3, vector([[0]])),
  ...section(7, vector([[...name("scan"), 0, 0]])),
  ...section(10, vector([[...leb(code.length), ...code]])),
];

const base64 = Buffer.from(module).toString("base64");
const lines = base64.match(/.{1,90}/g) ?? [];
const text = `/** Made by scripts/make-vector-kernel.js. ${module.length} bytes, as base64. */
export const KERNEL: string = [
${lines.map((line) => `  "${line}",`).join("\n")}
].join("");
`;
// With "-" it is printed, for the test that compares it with the committed file.
if (process.argv[2] === "-") process.stdout.write(text);
else writeFileSync(TARGET, text);
