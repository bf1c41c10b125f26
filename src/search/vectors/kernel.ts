/**
 * 4-bit FastScan over binary codes, and the memory that holds the codes: an allocator with
 * segregated free lists.
 *
 * WebAssembly SIMD where the machine has it, otherwise JavaScript; both give the same scores to the
 * last bit.
 */

import { KERNEL } from "./kernel-bytes.ts";
import { BLOCK, type CodeQuery } from "./quantize.ts";

const PAGE = 64 * 1024;
/** The table of a query of up to 4,096 dimensions. */
const TABLE_AT = 0;
const MAX_GROUPS = PAGE / 64;

export interface ScanRange {
  /** The offsets of the first vector's codes, and of the factors. */
  readonly codes: number;
  readonly factors: number;
  readonly blocks: number;
  readonly groups: number;
}

type Scan = (
  codes: number,
  blocks: number,
  groups: number,
  table: number,
  factors: number,
  scores: number,
  scale: number,
  offset: number,
) => void;

/** The used part of the WebAssembly global, for which TypeScript's library has no types. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): void;
}
declare const WebAssembly:
  | {
      readonly validate: (bytes: Uint8Array) => boolean;
      readonly Memory: new (limits: { readonly initial: number }) => WasmMemory;
      readonly Module: new (bytes: Uint8Array) => object;
      readonly Instance: new (
        module: object,
        imports: { readonly m: { readonly memory: WasmMemory } },
      ) => { readonly exports: Readonly<Record<string, unknown>> };
    }
  | undefined;

/** `wasm` where the machine has SIMD, otherwise `plain`. */
export type KernelKind = "wasm" | "plain";

export class VectorMemory {
  readonly kind: KernelKind;
  readonly #memory: WasmMemory;
  readonly #scan: Scan;
  /** Freed blocks by size. */
  readonly #free = new Map<number, number[]>();
  #end: number = 2 * PAGE;
  #query: CodeQuery | undefined;
  /** Allocated bytes. */
  used = 0;

  constructor(wanted: KernelKind = "wasm") {
    const wasm = wanted === "wasm" ? loadKernel() : undefined;
    this.kind = wasm === undefined ? "plain" : "wasm";
    this.#memory = wasm?.memory ?? new PlainMemory();
    this.#scan = wasm?.scan ?? ((...args) => scanPlain(this.#memory.buffer, ...args));
  }

  /** Allocates `bytes` bytes, aligned to 16. Gives their offset. */
  allocate(bytes: number): number {
    const size = Math.ceil(bytes / 16) * 16;
    this.used += size;
    const known = this.#free.get(size)?.pop();
    if (known !== undefined) return known;
    const at = this.#end;
    this.#end += size;
    const missing = Math.ceil((this.#end - this.#memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.#memory.grow(missing);
    return at;
  }

  free(at: number, bytes: number): void {
    const size = Math.ceil(bytes / 16) * 16;
    this.used -= size;
    const places = this.#free.get(size);
    if (places === undefined) this.#free.set(size, [at]);
    else places.push(at);
  }

  /** Valid until the next `allocate`. */
  bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at, length);
  }

  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.#memory.buffer, at, length);
  }

  /**
   * Estimates the cosine of every vector of a range; the values after the last vector are
   * undefined.
   */
  scan(query: CodeQuery, { codes, factors, blocks, groups }: ScanRange): Float32Array {
    if (groups > MAX_GROUPS)
      throw new RangeError(`vectors have at most ${MAX_GROUPS * 4} dimensions`);
    // Beside the table: the scores of up to 8,192 vectors.
    const scores = PAGE;
    if (blocks * BLOCK * 4 > PAGE) throw new RangeError("too many vectors for one scan");
    if (this.#query !== query) {
      this.bytes(TABLE_AT, query.table.length).set(query.table);
      this.#query = query;
    }
    this.#scan(codes, blocks, groups, TABLE_AT, factors, scores, query.scale, query.offset);
    return this.floats(scores, blocks * BLOCK);
  }
}

class PlainMemory {
  buffer = new ArrayBuffer(2 * PAGE);

  grow(pages: number): void {
    const larger = new ArrayBuffer(this.buffer.byteLength + pages * PAGE);
    new Uint8Array(larger).set(new Uint8Array(this.buffer));
    this.buffer = larger;
  }
}

/** Undefined without WebAssembly or its SIMD. */
function loadKernel(): { memory: WasmMemory; scan: Scan } | undefined {
  const bytes = Uint8Array.from(atob(KERNEL), (unit) => unit.charCodeAt(0));
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(bytes)) return undefined;
  const memory = new WebAssembly.Memory({ initial: 2 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { memory } });
  return { memory, scan: exports["scan"] as Scan };
}

function scanPlain(buffer: ArrayBuffer, ...args: Parameters<Scan>): void {
  const [codesAt, blocks, groups, tableAt, factorsAt, scoresAt, scale, offset] = args;
  const codes = new Uint8Array(buffer, codesAt, blocks * groups * (BLOCK / 2));
  const table = new Uint8Array(buffer, tableAt, groups * 16);
  const factors = new Float32Array(buffer, factorsAt, blocks * BLOCK);
  const scores = new Float32Array(buffer, scoresAt, blocks * BLOCK);
  const sums = new Uint16Array(BLOCK);
  let at = 0;
  for (let block = 0; block < blocks; block++) {
    sums.fill(0);
    for (let group = 0; group < groups; group++) {
      const row = group * 16;
      for (let lane = 0; lane < BLOCK / 2; lane++) {
        const pair = codes[at++] as number;
        sums[lane] = (sums[lane] as number) + (table[row + (pair & 15)] as number);
        sums[lane + 16] = (sums[lane + 16] as number) + (table[row + (pair >> 4)] as number);
      }
    }
    for (let lane = 0; lane < BLOCK; lane++) {
      const i = block * BLOCK + lane;
      const scaled = Math.fround((sums[lane] as number) * scale);
      scores[i] = Math.fround(Math.fround(scaled - offset) * (factors[i] as number));
    }
  }
}
