import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Description } from "../engine/import/import-subject.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";
import { numbered, sessionOf } from "./import.cases.ts";

/** Imports with lost answers or cut connections: stored once, counted once, described. */

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

const IMPORT = /^POST \/v1\/ingest\/sessions$/;

function timesSent(): number {
  return served.line.requests.filter((request) => IMPORT.test(request)).length;
}

const describeIt = (): Description => ({
  title: "Described",
  figures: {
    exchangeCount: 7,
    toolCounts: {},
    fileMtime: null,
    firstMessageAt: null,
    lastMessageAt: null,
  },
});

describe("an import that is sent again", () => {
  test("answers as the first one whose answer was lost", async () => {
    const { remote, engine, line } = served;
    const before = timesSent();
    line.loseAnswers(IMPORT, 2);
    const result = await remote.importSession(sessionOf("lost", numbered(1_200)), {
      describe: describeIt,
    });
    expect(timesSent() - before).toBe(3);
    expect(result).toMatchObject({ created: true, entries: 1_200, skipped: 0, problems: 0 });
    const stored = await engine.getSessionMeta(result.sessionId ?? "");
    expect(stored).toMatchObject({ messageCount: 1_200, title: "Described" });
    expect(stored.figures?.exchangeCount).toBe(7);
    expect((await engine.verify()).ok).toBe(true);
  });

  test("continues after the part that the interrupted one stored", async () => {
    const { remote, engine, line } = served;
    const stored = async () => (await engine.findSessionByOrigin("test:cut"))?.messageCount ?? 0;
    async function* cutAfter(count: number): AsyncGenerator<ImportedEntry> {
      let isCut = false;
      for await (const entry of numbered(5_000)) {
        if (!isCut && entry.sourceId === `e${count}`) {
          isCut = true;
          // A part has arrived and is stored.
          await expect.poll(stored).toBeGreaterThan(0);
          line.cut();
        }
        yield entry;
      }
    }
    const before = timesSent();
    const result = await remote.importSession(sessionOf("cut", cutAfter(4_000)));
    expect(timesSent() - before).toBe(2);
    expect(result).toMatchObject({ created: true, entries: 5_000, skipped: 0 });
    expect(await stored()).toBe(5_000);
    const handle = await engine.getSession(result.sessionId ?? "");
    const texts = (await handle.history({ limit: 500 })).map(({ blocks }) => blocks[0]);
    expect(texts.at(-1)).toMatchObject({ text: expect.stringContaining("message 4999 ") });
  });

  test("counts entries that existed before as known", async () => {
    const { remote, line } = served;
    await remote.importSession(sessionOf("grown", numbered(700)));
    line.loseAnswers(IMPORT);
    const grown = await remote.importSession(sessionOf("grown", numbered(900)));
    expect(grown).toMatchObject({ created: false, entries: 200, skipped: 700 });
    const same = await remote.importSession(sessionOf("grown", numbered(900)));
    expect(same).toMatchObject({ created: false, entries: 0, skipped: 900 });
  });

  test("is not repeated when its reader has failed", async () => {
    async function* broken(): AsyncGenerator<ImportedEntry> {
      yield* numbered(5);
      throw new Error("the disk is gone");
    }
    const before = timesSent();
    const failing = served.remote.importSession(sessionOf("broken", broken()));
    await expect(failing).rejects.toThrow("the disk is gone");
    // It may fail before anything was sent.
    expect(timesSent() - before).toBeLessThanOrEqual(1);
  });

  test("uses the caller's own key", async () => {
    const { remote } = served;
    const options = { idempotencyKey: "import-1" };
    const first = await remote.importSession(sessionOf("keyed", numbered(3)), options);
    expect(await remote.importSession(sessionOf("keyed", numbered(3)), options)).toEqual(first);
    const other = remote.importSession(sessionOf("keyed", numbered(4)), options);
    await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
  });
});
