import { expect, test } from "vitest";
import type { SegmentInfo } from "../port.ts";
import { segmentsOfFullMerge, segmentsToMerge, segmentsToMergeWhileBusy } from "./merge-policy.ts";

let segments: SegmentInfo[] = [];
let written = 0;

function segment(documents: number): SegmentInfo {
  return {
    segment: ++written,
    documents,
    from: 0,
    to: 0,
    builtAt: 0,
    analyzer: "a",
    bytes: documents,
    positionBytes: 0,
  };
}

/** Merges until no merge is due. Gives the number of rewritten documents. */
function join(choose: (segments: readonly SegmentInfo[]) => readonly SegmentInfo[]): number {
  let rewritten = 0;
  for (let due = choose(segments); due.length > 0; due = choose(segments)) {
    const documents = due.reduce((sum, each) => sum + each.documents, 0);
    const at = segments.indexOf(due[0] as SegmentInfo);
    expect(segments.slice(at, at + due.length)).toEqual(due);
    segments.splice(at, due.length, segment(documents));
    rewritten += documents;
  }
  return rewritten;
}

test("a store that grows by small segments keeps few of them, and rewrites each message a few times", () => {
  segments = [];
  let documents = 0;
  let rewritten = 0;
  let most = 0;
  for (let i = 0; i < 4_000; i++) {
    const size = 512 + ((i * 7_919) % 1_024);
    segments.push(segment(size));
    documents += size;
    rewritten += join(segmentsToMerge);
    most = Math.max(most, segments.length);
  }
  // Seven and seven small ones, three large ones for each of five levels.
  expect(most).toBeLessThanOrEqual(7 + 7 + 15);
  expect(segments.filter((each) => each.documents > 8_192).length).toBeLessThanOrEqual(15);
  expect(rewritten / documents).toBeLessThan(7);
});

test("heavy writes cause fewer merges, and the number of segments stays bounded", () => {
  segments = [];
  let rewritten = 0;
  let most = 0;
  for (let i = 0; i < 150; i++) {
    segments.push(segment(7_000));
    rewritten += join(segmentsToMergeWhileBusy);
    most = Math.max(most, segments.length);
  }
  // A million messages: 15 small ones, and nine that were made of 16 each.
  expect(most).toBeLessThanOrEqual(15 + 9);
  expect(rewritten / (150 * 7_000)).toBeLessThan(1);
});

test("the number of segments stays bounded during days of heavy writes", () => {
  segments = [];
  let most = 0;
  // Sixty million messages.
  for (let i = 0; i < 8_600; i++) {
    segments.push(segment(7_000));
    join(segmentsToMergeWhileBusy);
    most = Math.max(most, segments.length);
  }
  // Of each of the two levels of large ones less than 64.
  expect(most).toBeLessThanOrEqual(15 + 63 + 63);
  expect(Math.max(...segments.map(({ documents }) => documents))).toBeLessThan(2_000_000);
});

test("a large segment is not rewritten for a few small ones", () => {
  segments = [segment(200_000), ...Array.from({ length: 7 }, () => segment(1_000))];
  expect(segmentsToMerge(segments)).toEqual([]);
});

test("very large segments are not merged", () => {
  segments = Array.from({ length: 5 }, () => segment(5_000_000));
  expect(segmentsToMerge(segments)).toEqual([]);
  expect(segmentsOfFullMerge(segments)).toEqual([]);
});

test("a full merge gives one segment, up to four million messages", () => {
  segments = [50_000, 300_000, 1_000, 2_000, 90_000].map(segment);
  join(segmentsOfFullMerge);
  expect(segments.map((each) => each.documents)).toEqual([443_000]);
  segments = [3_000_000, 2_000_000, 1_500_000, 9_000_000, 10, 20].map(segment);
  join(segmentsOfFullMerge);
  expect(segments.map((each) => each.documents)).toEqual([3_000_000, 3_500_000, 9_000_000, 30]);
});
