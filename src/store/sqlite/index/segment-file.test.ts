import { randomBytes } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../../test/support/folder.ts";
import { closeSegments, truncateLog } from "./maintain-segments.ts";
import { SegmentFile } from "./segment-file.ts";
import { deletePart, listOld, retire, writeBlobs } from "./segments.ts";

test("a search reads its snapshot to the end, despite concurrent deletions", () => {
  const { writer, reader, db } = beingRead();

  retire(db, 1, [7]);
  // Dropped segments are deleted at once here.
  expect(listOld(db, 1, 60_000)).toEqual([7]);
  while (deletePart(db, 1, 7));
  expect(writer.read(1, { segment: 7, blob: 0 })).toBe("missing");
  expect(reader.read(1, { segment: 7, blob: 0 })).toEqual(new Uint8Array([1, 2, 3]));

  reader.endSnapshot();
  expect(reader.read(1, { segment: 7, blob: 0 })).toBe("missing");
});

test("purged text is in neither the file nor its log once running searches have ended", async () => {
  const { writer, reader, db } = beingRead();
  while (deletePart(db, 1, 7));
  const emptied = truncateLog(writer).then(() => statSync(`${writer.path}-wal`).size);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(statSync(`${writer.path}-wal`).size).toBeGreaterThan(0);
  reader.endSnapshot();
  expect(await emptied).toBe(0);
});

test("closing vacuums a file with many free pages", async () => {
  const store = join(createFolder(), "store.db");
  closeSync(openSync(store, "a"));
  const fill = (file: SegmentFile, segment: number, count: number) => {
    const blobs = Array.from({ length: count }, (_, blob) => ({ blob, bytes: randomBytes(8_000) }));
    writeBlobs(file.create(), 1, segment, blobs);
  };
  const first = open(store);
  fill(first, 1, 100);
  fill(first, 2, 2_000);
  while (deletePart(first.create(), 1, 2));
  const { path } = first;
  await closeSegments(first, true);
  const small = statSync(path).size;
  expect(small).toBeLessThan(8 * 1024 * 1024);
  const again = open(store);
  expect(again.read(1, { segment: 1, blob: 99 })).toHaveLength(8_000);
  fill(again, 3, 300);
  while (deletePart(again.create(), 1, 3));
  await closeSegments(again, true);
  // A few free pages are kept for reuse.
  expect(statSync(path).size).toBeGreaterThanOrEqual(small);
});

test("closing keeps the snapshots of others, and leaves the vacuum to the process that built segments", async () => {
  const { writer, reader, db } = beingRead();
  const blobs = Array.from({ length: 2_000 }, (_, blob) => ({ blob, bytes: randomBytes(8_000) }));
  writeBlobs(db, 1, 8, blobs);
  while (deletePart(db, 1, 8));
  writer.close();
  const size = () => statSync(reader.path).size + statSync(`${reader.path}-wal`).size;
  const before = size();
  await closeSegments(open(reader.path.replace(/-index$/, "")), false);
  expect(size()).toBeGreaterThanOrEqual(before);
  const other = open(reader.path.replace(/-index$/, ""));
  other.open();
  await closeSegments(other, true);
  expect(reader.read(1, { segment: 7, blob: 0 })).toEqual(new Uint8Array([1, 2, 3]));
  reader.endSnapshot();
  await closeSegments(open(reader.path.replace(/-index$/, "")), true);
  expect(statSync(reader.path).size).toBeLessThan(8 * 1024 * 1024);
});

test("a batched read of blobs equals single reads, with missing and damaged ones, in any order", () => {
  const store = join(createFolder(), "store.db");
  closeSync(openSync(store, "a"));
  const [writer, reader] = [open(store), open(store)];
  const db = writer.create();
  for (const segment of [7, 8]) {
    const blobs = Array.from({ length: 40 }, (_, blob) => ({
      blob,
      bytes: new Uint8Array([segment, blob]),
    }));
    writeBlobs(db, 1, segment, blobs);
  }
  db.run("UPDATE index_blobs SET crc = crc + 1 WHERE segment = 8 AND blob = 5");
  db.run("DELETE FROM index_blobs WHERE segment = 7 AND blob = 6");
  const keys = Array.from({ length: 80 }, (_, i) => ({
    segment: 7 + (i % 2),
    blob: 39 - (i >> 1),
  }));
  const few = keys.filter(({ blob }) => blob < 4);
  for (const some of [keys, few]) {
    const answers = reader.readAll(1, some);
    for (const [i, { segment, blob }] of some.entries()) {
      const isDamaged = segment === 8 && blob === 5;
      const isMissing = segment === 7 && blob === 6;
      const sound = isMissing ? "missing" : new Uint8Array([segment, blob]);
      expect(answers[i]).toEqual(isDamaged ? "damaged" : sound);
    }
  }
});

/** A file with a segment and an open snapshot of it. */
function beingRead() {
  const store = join(createFolder(), "store.db");
  closeSync(openSync(store, "a"));
  const [writer, reader] = [open(store), open(store)];
  const db = writer.create();
  writeBlobs(db, 1, 7, [{ blob: 0, bytes: new Uint8Array([1, 2, 3]) }]);
  reader.beginSnapshot();
  return { writer, reader, db };
}

function open(store: string): SegmentFile {
  const file = new SegmentFile(store, false, () => "epoch");
  onTestFinished(() => file.close());
  return file;
}
