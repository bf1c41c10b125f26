import { expect, test } from "vitest";
import { IndexModel } from "../../../test/support/index-model.ts";
import type { Language } from "../analysis/analyze.ts";
import { runNow } from "../drive.ts";
import type { FeedSlice, MaintenanceReport, MaintenanceTask, Need } from "../port.ts";
import { type MaintenanceOptions, maintainIndex } from "./maintain.ts";

let lastSegment = 0;

function optionsOf(language: Language): MaintenanceOptions {
  return {
    indexing: { language, tools: "names" },
    newSegment: () => ++lastSegment,
    flushAt: 1,
    unreadable: new Set<number>(),
    now: 0,
  };
}

function maintain(
  model: IndexModel,
  task: MaintenanceTask,
  language: Language = "english",
): MaintenanceReport {
  return runNow(maintainIndex(task, optionsOf(language)), model.answer);
}

/** A model whose index has this many segments. */
function withSegments(count: number): IndexModel {
  const model = new IndexModel();
  const session = model.createSession();
  for (let i = 0; i < count; i++) {
    model.append(session, "user", `message ${i} of many`);
    maintain(model, "flush");
  }
  return model;
}

test("a damaged segment is rebuilt before it is merged", () => {
  const model = withSegments(17);
  const damaged = model.manifest.segments[3]?.segment;
  for (const key of [...model.blobs.keys()]) {
    if (key.startsWith(`${damaged}/`)) model.blobs.delete(key);
  }
  while (maintain(model, "purge").more);
  expect(model.manifest.segments).toHaveLength(1);
  expect(model.manifest.segments[0]?.documents).toBe(17);
});

test("a segment beyond the feed's end is rebuilt up to that end", () => {
  const model = withSegments(1);
  const { manifest } = model;
  const beyond = manifest.segments.map((info) => ({ ...info, to: 50 }));
  model.manifest = { ...manifest, through: 50, segments: beyond };
  let written = 0;
  const task = { rebuildThrough: manifest.version };
  const report = runNow(maintainIndex(task, optionsOf("english")), (need) => {
    if (need.need === "write" && ++written > 10) throw new Error("it goes on and on");
    return model.answer(need);
  });
  expect(report.more).toBe(false);
  expect(model.manifest.segments).toMatchObject([{ from: 0, to: 2, documents: 1 }]);
});

test("a merge of segments of an old and a new analyzer counts as old, and is rebuilt", () => {
  const model = withSegments(17);
  maintain(model, "maintain", "simple");
  maintain(model, "merge", "simple");
  expect(model.manifest.segments[0]?.analyzer).toContain("/english/");
  while (maintain(model, "maintain", "simple").more);
  for (const { analyzer } of model.manifest.segments) expect(analyzer).toContain("/simple/");
});

test("a segment of 0.1.0, and a merge with one, is rebuilt; one of a later version is left alone", () => {
  const model = withSegments(2);
  const first = (selection: { readonly selection?: number }) => {
    const segments = model.manifest.segments.map(({ selection: _, ...info }, i) =>
      i === 0 ? { ...info, ...selection } : { ...info, selection: 99 },
    );
    // What 0.1.0 compares: it leaves alone what has its own.
    expect(segments.map(({ analyzer }) => analyzer)).toEqual(Array(2).fill("3/english/names"));
    model.manifest = { ...model.manifest, segments };
  };
  first({ selection: 99 });
  expect(maintain(model, "maintain")).toMatchObject({ documents: 0, more: false });
  first({});
  maintain(model, "merge");
  expect(model.manifest.segments).toMatchObject([{ documents: 2, selection: 0 }]);
  while (maintain(model, "maintain").more);
  expect(model.manifest.segments).toMatchObject([{ documents: 2, selection: 4 }]);
});

test("heavy writes defer merges until there are many segments", () => {
  const model = new IndexModel();
  const session = model.createSession();
  let most = 0;
  for (let i = 0; i < 40; i++) {
    // A flushed segment, and a waiting one.
    model.append(session, "user", `message ${i} of many`);
    maintain(model, "maintain");
    most = Math.max(most, model.manifest.segments.length);
    model.append(session, "user", `another message ${i}`);
  }
  expect(most).toBeLessThanOrEqual(16);
  while (maintain(model, "maintain").more);
  expect(model.manifest.segments.length).toBeLessThan(8);
  expect(model.manifest.segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(80);
});

test("a flush includes changes written during it, unless they are few", () => {
  const model = new IndexModel();
  const session = model.createSession();
  const write = (count: number) => {
    for (let i = 0; i < count; i++) model.append(session, "user", "one of many");
  };
  // Slices of 128, 256, 512 and 1,024 rows reach its end: the session is a change too.
  write(1_919);
  const coming = [1_000, 500, 257, 100, 2_000];
  const answer = (need: Need) => {
    const answered = model.answer(need);
    const isSlice = need.need === "feed" && need.limit > 0;
    const { through, head } = (isSlice ? answered : {}) as Partial<FeedSlice>;
    if (isSlice && through === head) write(coming.shift() ?? 0);
    return answered;
  };
  const report = runNow(maintainIndex("maintain", optionsOf("english")), answer);
  expect(report).toMatchObject({ documents: 3_776, through: 3_777, head: 5_777 });
  expect(coming).toEqual([]);
});

test("a segment ends early at the limit of words", () => {
  const model = new IndexModel();
  const session = model.createSession();
  const text = "word ".repeat(1_000);
  for (let i = 0; i < 1_200; i++) model.append(session, "user", text);
  maintain(model, "flush");
  const [first] = model.manifest.segments;
  // 128, 256 and 512 messages have more than 786,432 words together.
  expect(first).toMatchObject({ from: 0, to: 896, documents: 895 });
  while (maintain(model, "flush").more);
  expect(model.manifest.through).toBe(1_201);
  expect(model.manifest.segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(1_200);
});

test("slices cut short by huge messages do not end a segment", () => {
  const model = new IndexModel();
  const session = model.createSession();
  for (let i = 0; i < 999; i++) model.append(session, "user", "as if it were huge");
  const answer = (need: Need) =>
    model.answer(need.need === "feed" ? { ...need, limit: Math.min(need.limit, 100) } : need);
  const report = runNow(maintainIndex("maintain", optionsOf("english")), answer);
  expect(report).toMatchObject({ documents: 999, through: 1_000 });
});

test("a rebuild also covers segments merged during it", () => {
  const model = withSegments(17);
  const rebuild = { rebuildThrough: model.manifest.version };
  maintain(model, rebuild);
  maintain(model, "maintain");
  const joined = new Set(model.manifest.segments.map(({ segment }) => segment));
  while (maintain(model, rebuild).more);
  expect(model.manifest.segments.filter(({ segment }) => joined.has(segment))).toEqual([]);
  expect(model.manifest.segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(17);
});

test("a rebuild whose own output is lost fails instead of restarting", () => {
  const model = new IndexModel();
  const session = model.createSession();
  for (let range = 0; range < 9; range++) {
    model.append(session, "user", `message ${range} of few`);
    for (let i = 0; i < 8_192; i++) model.cut(session, Number.POSITIVE_INFINITY);
  }
  while (maintain(model, "flush").more);
  while (maintain(model, "merge").more);
  expect(model.manifest.segments).toHaveLength(1);
  const keep = model.blobs.set.bind(model.blobs);
  model.blobs.set = () => model.blobs;
  expect(() => maintain(model, { rebuildThrough: model.manifest.version })).toThrow("missing");
  model.blobs.set = keep;
  while (maintain(model, { rebuildThrough: model.manifest.version }).more);
  expect(model.manifest.segments[0]?.documents).toBe(9);
});
