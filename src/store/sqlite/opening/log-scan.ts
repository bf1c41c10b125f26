/**
 * Tells a damaged write-ahead log from a torn tail: finds commits that SQLite would discard.
 *
 * SQLite replays a log up to the first frame whose checksum does not continue that of the frame
 * before it: the *break*. It takes the rest for a torn tail, so a damaged frame in the middle removes
 * every later commit without an error. This scan finds such commits: frames after the break with the
 * log's salts, whose checksum continues the one stored in the frame before them.
 *
 * A sound log can have such a frame, too. A process that dies after writing the last frame of a
 * transaction and before publishing it in the WAL index has acknowledged nothing. The next writer
 * starts at the same frame; if its transaction is shorter, the end of the first one remains after it:
 * one commit without a successor. So commits after the break are a loss only with one of these
 * proofs that the log continued:
 *
 * - a frame continues a commit after the break: its writer knew that commit;
 * - the frame at the break continues the one before it, except for its salts, its own checksum or a
 *   single word;
 * - between the break and the commit is a frame of no log, such as a lost sector: a log's frames are
 *   written one after the other.
 *
 * Undetected: several damaged words in one frame of the last transaction, which look like the rest
 * of a dead process's transaction.
 */

import { type Checksum, differsInOneWord, isSame } from "./log-checksum.ts";
import {
  FRAME_HEADER_BYTES,
  type Frame,
  frameChecksum,
  guessShape,
  HEADER_BYTES,
  type LogShape,
  possibleSeeds,
  readFrame,
  readHeader,
  wordsOf,
} from "./log-format.ts";

export interface LogLoss {
  /** The log's salts: see `LogHeader`. With a damaged header, the first frame's. */
  readonly salts: string;
  /** The frame at which SQLite stops, counted from 0. */
  readonly frame: number;
  /** Complete commits after it. The damaged transaction may be one more. */
  readonly commits: number;
}

const NO_SALTS = "0".repeat(16);

/** Reads a log from its start, in slices of whole frames. */
export class LogScan {
  readonly frameBytes: number;
  readonly #shape: LogShape;
  readonly #salts: string;
  /** Checksums that the next frame may continue; the first is the previous frame's stored one. */
  #seeds: readonly Checksum[];
  #previous: Frame | undefined;
  #frames = 0;
  #break: number | undefined;
  #commits = 0;
  #wentOn: boolean;
  #hasForeign = false;

  private constructor(start: {
    readonly shape: LogShape;
    readonly salts: string;
    readonly seeds: readonly Checksum[];
    readonly isDamaged: boolean;
  }) {
    this.#shape = start.shape;
    this.#salts = start.salts;
    this.#seeds = start.seeds;
    this.frameBytes = FRAME_HEADER_BYTES + start.shape.pageBytes;
    // SQLite ignores a log with a damaged header: the break is before its first frame.
    this.#break = start.isDamaged ? 0 : undefined;
    this.#wentOn = start.isDamaged;
  }

  /** `start` has the header and up to two frames. Undefined if it is not a log. */
  static begin(start: Buffer): LogScan | undefined {
    if (start.length < HEADER_BYTES + FRAME_HEADER_BYTES) return undefined;
    const header = readHeader(start);
    if (header !== undefined) {
      const { salts, checksum } = header;
      return new LogScan({ shape: header, salts, seeds: [checksum], isDamaged: false });
    }
    const shape = guessShape(start, start.subarray(HEADER_BYTES));
    if (shape === undefined) return undefined;
    const { salts } = readFrame(start, HEADER_BYTES);
    return new LogScan({ shape, salts, seeds: possibleSeeds(start, shape), isDamaged: true });
  }

  /** `slice` has whole frames that follow the last slice. */
  add(slice: Buffer): void {
    const words = wordsOf(slice, this.#shape.bigEndian);
    const end = slice.length - this.frameBytes;
    for (let offset = 0; offset <= end; offset += this.frameBytes) {
      this.#addFrame(readFrame(slice, offset), words, offset);
    }
  }

  finish(): LogLoss | undefined {
    if (this.#break === undefined || this.#commits === 0 || !this.#wentOn) return undefined;
    return { salts: this.#salts, frame: this.#break, commits: this.#commits };
  }

  #addFrame(frame: Frame, words: Int32Array, offset: number): void {
    const isOfLog = frame.salts === this.#salts && frame.page !== 0;
    // Most frames after the end belong to an earlier log: skip their checksums.
    const seeds = isOfLog || this.#break === undefined ? this.#seeds : [];
    const sums = seeds.map((seed) => frameChecksum(words, offset, this.#shape, seed));
    const followed = sums.findIndex((sum) => isSame(sum, frame.checksum));
    this.#seeds = [frame.checksum];
    if (isOfLog && followed >= 0) this.#follow(frame, followed);
    else if (this.#break === undefined) this.#breakAt(frame, sums[0] as Checksum);
    else if (!isOfLog && !isUnfinished(frame)) this.#hasForeign = true;
    this.#previous = frame;
    this.#frames++;
  }

  #follow(frame: Frame, seed: number): void {
    if (this.#break === undefined) return;
    // The second seed is the recomputed checksum of a frame or a header.
    if (seed > 0 || this.#previous?.isCommit === true) this.#wentOn = true;
    if (!frame.isCommit) return;
    this.#commits++;
    if (this.#hasForeign) this.#wentOn = true;
  }

  #breakAt(frame: Frame, computed: Checksum): void {
    this.#break = this.#frames;
    const isOfLog = frame.salts === this.#salts;
    if (isSame(computed, frame.checksum)) {
      this.#wentOn = true;
    } else if (isOfLog) {
      const pairs = (8 + this.#shape.pageBytes) / 8;
      this.#wentOn = differsInOneWord(frame.checksum, computed, pairs);
      this.#seeds = [frame.checksum, computed];
    } else if (!isUnfinished(frame)) {
      this.#hasForeign = true;
    }
  }
}

/** SQLite leaves salts and checksum empty until a transaction that wrote a page twice is committed. */
function isUnfinished({ page, salts, checksum }: Frame): boolean {
  return page !== 0 && salts === NO_SALTS && checksum.s1 === 0 && checksum.s2 === 0;
}
