import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerNow, runNow } from "../drive.ts";
import type { PackedBlob } from "./blob-packer.ts";
import { buildSegment } from "./build-segment.ts";
import { IndexCache } from "./index-cache.ts";
import { MemoryIndex } from "./memory-index.ts";
import { mergeSegments } from "./merge-segments.ts";

interface Message {
  readonly session: number;
  readonly source: number;
  readonly words: readonly string[];
}

/** Includes letters whose UTF-8 order differs from that of code units. */
const word = fc.oneof(
  fc.constantFrom("a", "ab", "abc", "the", "é", "éa", "日本", "\uE000x", "😀", "😁a", "\uFF21"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
);
const message: fc.Arbitrary<Message> = fc.record({
  session: fc.integer({ min: 1, max: 6 }),
  source: fc.nat(3),
  words: fc.array(word, { minLength: 1, maxLength: 8 }),
});

/** The blobs of a segment with these messages, whose sequence is their place among all. */
function build(messages: readonly (readonly [number, Message])[]): Map<number, Uint8Array> {
  const index = new MemoryIndex();
  for (const [sequence, { session, words }] of messages) {
    const place = { session, sequence, chain: 1, depth: sequence, time: sequence, role: 0 };
    index.addMessage(place, (into) => {
      for (const [position, each] of words.entries()) into.term(each, position);
      return words.length;
    });
  }
  return byNumber(runNow(buildSegment(index), () => undefined).blobs);
}

function byNumber(blobs: readonly PackedBlob[]): Map<number, Uint8Array> {
  return new Map(blobs.map(({ blob, bytes }) => [blob, bytes]));
}

/** So small that most blobs are evicted during the merge. */
const CACHE_BYTES = 3 * 1.1 * 16_384;

function merge(segments: readonly Map<number, Uint8Array>[], dead: ReadonlySet<number>) {
  const written = new Map<number, Uint8Array>();
  const answer: AnswerNow = (need) => {
    if (need.need === "blobs") {
      return need.keys.map(({ segment, blob }) => segments[segment]?.get(blob) ?? "missing");
    }
    if (need.need === "write") {
      for (const { blob, bytes } of need.blobs) written.set(blob, bytes.slice());
    }
    return undefined;
  };
  const gone = { sessions: dead, erased: [] };
  const numbers = [...segments.keys()];
  const cache = new IndexCache(CACHE_BYTES);
  runNow(
    mergeSegments(numbers, 99, gone, cache, function* () {}),
    answer,
  );
  return written;
}

function check(messages: readonly Message[], dead: ReadonlySet<number>): void {
  // Later sources have later messages, as in the feed.
  const inOrder = [...messages].sort((a, b) => a.source - b.source);
  const numbered = [...inOrder.entries()];
  const segments = [0, 1, 2, 3].map((source) =>
    build(numbered.filter(([, each]) => each.source === source)),
  );
  const alive = numbered.filter(([, { session }]) => !dead.has(session));
  expect(merge(segments, dead)).toEqual(build(alive));
}

test("a merge equals one segment of all messages", () => {
  const messages = fc.array(message, { maxLength: 40 });
  const dead = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 2 });
  fc.assert(fc.property(messages, dead, (each, gone) => check(each, new Set(gone))));
});

test("a merge equals it where another source fills the place of dropped documents", () => {
  const say = (session: number, source: number) => ({ session, source, words: ["word"] });
  check([say(1, 0), say(2, 0), say(3, 0), say(1, 1)], new Set([2]));
});

test("a merge equals it where a term's list is long", () => {
  const many = (session: number, source: number): Message[] =>
    Array.from({ length: 600 }, (_, i) => ({
      session,
      source,
      words: ["often", `rare${source}x${i % 97}`, "often", "é"],
    }));
  check([...many(1, 0), ...many(2, 1), ...many(3, 3)], new Set());
  check([...many(1, 0), ...many(2, 0), ...many(1, 2), ...many(4, 3)], new Set([2]));
});

test("a merge equals it where blobs are evicted meanwhile", () => {
  const many = (source: number): Message[] =>
    Array.from({ length: 2_500 }, (_, i) => ({
      session: 1 + (i % 50),
      source,
      words: Array.from({ length: 6 }, (_, j) => `w${(i * 7_919 + j * source * 31) % 4_001}`),
    }));
  check([0, 1, 2, 3].flatMap(many), new Set([7, 8]));
});

test("a segment's bytes do not depend on the order of its messages", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
      const came = [...messages.entries()];
      const sorted = came.toSorted(([a, one], [b, other]) => one.session - other.session || a - b);
      expect(build(came)).toEqual(build(sorted));
    }),
  );
});
