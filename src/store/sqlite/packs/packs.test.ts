import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../../test/support/folder.ts";
import { message, newSession, T0 } from "../../cases/fixture.cases.ts";
import { turn } from "../../cases/history.cases.ts";
import type { EntryRecord, NewEntry } from "../../records.ts";
import { dumpRows, loadRows } from "../dump.ts";
import { readFeedSlice } from "../index/feed-slice.ts";
import { readWindows } from "../index/windows.ts";
import { append } from "../operations/append.ts";
import { deleteSession } from "../operations/delete-session.ts";
import { eraseContent } from "../operations/erase-content.ts";
import { callRead } from "../operations/index.ts";
import { readEntries } from "../operations/read-entries.ts";
import { createSession } from "../operations/sessions.ts";
import { SqliteConnection } from "../sqlite-driver.ts";
import { migrate } from "../sqlite-schema.ts";
import { Pack } from "./pack.ts";

const TURNS = [1, 2, 3, 4].flatMap((number) => turn(number));
/** The same with other ids. */
const TWINS = [1, 2, 3, 4].flatMap((number) => turn(number));

/** An in-memory store with an imported session. */
function imported(entries: readonly NewEntry[] = TURNS): { db: SqliteConnection; id: string } {
  const db = new SqliteConnection(":memory:");
  onTestFinished(() => db.close());
  migrate(db);
  const { id } = createSession(db, "a", newSession({ origin: ORIGIN }));
  write(db, id, entries);
  return { db, id };
}

const ORIGIN = { key: "w:p:s", source: "x", workstation: "w", projectId: "p" };

function write(db: SqliteConnection, sessionId: string, entries: readonly NewEntry[]): void {
  append(db, "a", { sessionId, entries, now: T0, isHistory: true });
}

function treeOf(db: SqliteConnection, sessionId: string): readonly EntryRecord[] {
  const query = { sessionId, afterSequence: 0, limit: 500, payloads: false };
  return readEntries(db, "a", { select: "tree", ...query }).entries;
}

function rowsOf(db: SqliteConnection): { sequence: number; kept: string; pack: number | null }[] {
  return db
    .all("SELECT sequence, CAST(content AS TEXT) AS content, metadata, pack FROM entries")
    .map(({ sequence, content, metadata, pack }) => ({
      sequence: Number(sequence),
      kept: `${content ?? ""}${metadata === null ? "" : "+"}`,
      pack: pack as number | null,
    }));
}

/** A turn in the view. */
function shown(i: number): string {
  const said = [`done word${i}`, `Next is "word${i}".`, "\\"];
  return [`User: please word${i}`, ...said.map((text) => `Assistant: ${text}`)].join("\n");
}

function countPacks(db: SqliteConnection): unknown {
  return db.get("SELECT count(*) AS count FROM packs")?.["count"];
}

test("message text stays in its row, readable by SQL; all other parts go into the pack", () => {
  const { db } = imported();
  const kept = rowsOf(db).map((row) => row.kept);
  expect(kept.slice(0, 7)).toEqual([
    '[{"type":"text","text":"please word1"}]',
    "",
    "",
    "",
    '[{"type":"text","text":"done word1"}]',
    ' [{"type":"text","text":"Next is \\"word1\\"."},{"type":"text","text":"\\\\"}]',
    "",
  ]);
  expect(rowsOf(db)[4]?.pack).toBeNull();
  expect(new Set(rowsOf(db).map(({ pack }) => pack))).toEqual(new Set([1, null]));
  expect(countPacks(db)).toBe(1);
  const [session] = db.all("SELECT content FROM indexed_sessions");
  expect(session?.["content"]).toBe([1, 2, 3, 4].map(shown).join("\n"));
});

test("an entry that follows the previous row has an empty parent column", () => {
  const { db, id } = imported();
  const column = db.all("SELECT parent_id FROM entries").map((row) => row["parent_id"]);
  const [first, second] = [TURNS[0]?.id, TURNS[1]?.id];
  expect(column.slice(0, 3)).toEqual([null, "", ""]);
  expect(column[7]).toBe(TURNS[5]?.id);
  const parents = treeOf(db, id).map(({ parentId }) => parentId);
  expect(parents.slice(0, 3)).toEqual([null, first, second]);
  const request = { sessionId: id, entries: turn(9), now: T0, isHistory: true };
  const idempotency = { key: "k", requestHash: "0f".repeat(32) };
  append(db, "a", { ...request, idempotency });
  const again = append(db, "a", { ...request, idempotency });
  expect(again.entries[1]?.parentId).toBe(request.entries[0]?.id);
});

test("live entries and small batches are not packed", () => {
  const { db, id } = imported(turn(1).slice(0, 2));
  append(db, "a", { sessionId: id, entries: TURNS, now: T0 });
  expect(rowsOf(db).every(({ pack, kept }) => pack === null && kept !== "")).toBe(true);
  expect(countPacks(db)).toBe(0);
});

test("a text with the pack's separator stays in its row", () => {
  const odd = message("", { kind: "custom", role: null, content: "a\0b", metadata: '"\0"' });
  const { db, id } = imported([odd, ...TURNS]);
  expect(rowsOf(db)[0]).toMatchObject({ kept: "a\0b+", pack: null });
  expect(treeOf(db, id)[0]).toMatchObject({ content: "a\0b", metadata: '"\0"' });
});

test("erasing an entry removes it from the pack, and the last one deletes the pack", () => {
  const { db, id } = imported();
  const ids = TURNS.map((entry) => entry.id);
  const erase = (entryIds: string[]) =>
    eraseContent(db, "a", { sessionId: id, entryIds, mode: "ephemeral", now: T0 });
  erase(ids.slice(0, 7));
  expect(rowsOf(db)[1]).toEqual({ sequence: 2, kept: "", pack: null });
  expect(treeOf(db, id).map(({ content }) => content)).toEqual([
    ...Array(7).fill(null),
    ...TURNS.slice(7).map(({ content }) => content),
  ]);
  expect(countPacks(db)).toBe(1);
  erase(ids.slice(7));
  expect(countPacks(db)).toBe(0);
});

test("deleting a session deletes its packs, and no others", () => {
  const { db, id } = imported();
  const other = createSession(db, "a", newSession());
  write(db, other.id, turn(9));
  write(
    db,
    other.id,
    [7, 8].flatMap((number) => turn(number)),
  );
  const before = treeOf(db, other.id);
  deleteSession(db, "a", id, "user", T0);
  expect(treeOf(db, other.id)).toEqual(before);
  deleteSession(db, "a", other.id, "user", T0);
  expect(countPacks(db)).toBe(0);
});

test("the cache holds no rolled-back pack", () => {
  const { db, id } = imported();
  db.begin();
  write(
    db,
    id,
    [11, 12, 13, 14].flatMap((number) => turn(number)),
  );
  expect(treeOf(db, id).at(-2)?.content).toContain("word14");
  db.rollback();
  db.begin();
  write(
    db,
    id,
    [21, 22, 23, 24].flatMap((number) => turn(number)),
  );
  db.commit();
  expect(
    treeOf(db, id)
      .slice(28)
      .map(({ metadata }) => metadata),
  ).toEqual([21, 22, 23, 24].flatMap((number) => turn(number)).map(({ metadata }) => metadata));
});

test("a damaged or missing pack is reported", () => {
  for (const damage of ["UPDATE packs SET bytes = x'00'", "DELETE FROM packs"]) {
    const { db, id } = imported();
    db.exec(damage);
    expect(() => treeOf(db, id)).toThrow(
      /^entry \w+ of session \w+ is damaged: its pack cannot be read/,
    );
  }
});

test("a dump fills another store with packs, for live and imported entries", async () => {
  const { db, id } = imported();
  const live = Array.from({ length: 60 }, (_, i) => turn(i)).flat();
  append(db, "a", { sessionId: id, entries: live, now: T0 });
  eraseContent(db, "a", {
    sessionId: id,
    entryIds: [live[9]?.id ?? ""],
    mode: "audit-only",
    now: T0,
  });
  const to = new SqliteConnection(":memory:");
  onTestFinished(() => to.close());
  migrate(to);
  await loadRows(to, dumpRows(db), async (action) => action());
  expect(treeOf(to, id)).toEqual(treeOf(db, id));
  expect(countPacks(to)).toBe(4);
  expect(rowsOf(to)[1]).toEqual({ sequence: 2, kept: "", pack: 1 });
});

test("index and windows read packed entries like others", () => {
  const { db, id } = imported();
  const live = createSession(db, "a", newSession());
  append(db, "a", { sessionId: live.id, entries: TWINS, now: T0 });
  const { entries } = readFeedSlice(db, 1, 0, 1_000);
  const seen = entries.map(({ blocks, metadata, role }) => ({ blocks, metadata, role }));
  expect(seen).toHaveLength(48);
  expect(seen.slice(0, 24)).toEqual(seen.slice(24));
  const shownOf = (session: number, before: number, after: number) =>
    TURNS.map((_, i) => {
      const request = { session, sequence: i + 1, before, after };
      const [window] = readWindows(db, 1, [request]);
      return window?.entries.map(({ blocks, erased }) => ({ blocks, erased }));
    });
  expect(treeOf(db, id)).toHaveLength(28);
  for (const [before, after] of [[0, 0] as const, [3, 3] as const]) {
    expect(shownOf(1, before, after)).toEqual(shownOf(2, before, after));
  }
});

test("content erased by another connection does not return when this one erases", () => {
  const path = join(createFolder(), "store.db");
  const [first, second] = [new SqliteConnection(path), new SqliteConnection(path)];
  onTestFinished(() => {
    first.close();
    second.close();
  });
  migrate(first);
  const { id } = createSession(first, "a", newSession({ origin: ORIGIN }));
  write(first, id, TURNS);
  const results = treeOf(first, id).filter(({ role }) => role === "tool");
  const erase = (db: SqliteConnection, entry: EntryRecord | undefined) => {
    const entryIds = [entry?.id ?? ""];
    db.cache.forget();
    eraseContent(db, "a", { sessionId: id, entryIds, mode: "audit-only", now: T0 });
  };
  erase(second, results[0]);
  erase(first, results[1]);
  const pack = new Pack(first.get("SELECT bytes FROM packs")?.["bytes"] as Uint8Array);
  const held = TURNS.map((_, slot) => pack.content(slot) ?? "").join();
  expect([1, 2, 3, 4].map((i) => held.includes(`word${i} ö`))).toEqual([false, false, true, true]);
});

test("a damaged pack fails neither the index nor a search", () => {
  const { db, id } = imported();
  const whole = readFeedSlice(db, 1, 0, 100);
  db.run("UPDATE packs SET bytes = x'00'");
  db.packs.clear();
  expect(() => treeOf(db, id)).toThrow("doctor --verify lists all damage");
  const slice = readFeedSlice(db, 1, 0, 100);
  const blocksOf = ({ entries }: typeof whole) => entries.map(({ blocks }) => blocks);
  const said = blocksOf(whole).filter((blocks) => blocks.every(({ type }) => type === "text"));
  expect(said.length).toBeGreaterThan(5);
  expect(blocksOf(slice)).toEqual(expect.arrayContaining(said));
  expect(slice.entries.length).toBeLessThan(whole.entries.length);
  const [window] = readWindows(db, 1, [{ session: 1, sequence: 1, before: 0, after: 4 }]);
  expect(window?.entries.map(({ erased }) => erased)).toEqual([false, true, true, true, false]);
});

test("a read that meets a lock fails with store_busy", () => {
  const path = join(createFolder(), "store.db");
  const [reader, other] = [new SqliteConnection(path), new SqliteConnection(path)];
  onTestFinished(() => {
    reader.close();
    other.close();
  });
  migrate(other);
  other.exec("PRAGMA journal_mode = DELETE");
  other.exec("BEGIN EXCLUSIVE");
  expect(() => callRead(reader, "listTenants", [])).toThrow(
    expect.objectContaining({ code: "store_busy" }),
  );
  other.exec("ROLLBACK");
});
