import { describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";

const BARE = "w::talk";
const KEY = "w:shop:talk";
const earlier = { replaced: BARE, same: { source: "test", file: null } };

/** A session without a tree; `before` runs when its first entry is requested. */
function talk(texts: readonly string[], before?: () => Promise<unknown>): ImportedSession {
  return {
    source: "test",
    agent: "test",
    id: "talk",
    title: null,
    cwd: null,
    gitBranch: null,
    startedAt: 1000,
    parentSession: null,
    metadata: {},
    problems: new ProblemLog(),
    entries: (async function* () {
      await before?.();
      for (const [i, text] of texts.entries()) yield said(`m${i}`, text);
    })(),
  };
}

function said(sourceId: string, text: string, over: Partial<ImportedEntry> = {}): ImportedEntry {
  return {
    sourceId,
    kind: "message",
    role: "user",
    actor: "ana",
    data: null,
    metadata: {},
    blocks: [{ type: "text", text }],
    usage: null,
    model: null,
    createdAt: 1000,
    ...over,
  };
}

/** Another importer stores the session without its project, and then with it, meanwhile. */
async function interrupted(engine: Engine): Promise<void> {
  const other = async () => {
    await engine.importSession(talk(["a", "b"]), { key: BARE });
    await engine.importSession(talk(["a", "b"]), { key: KEY, earlier });
  };
  const result = await engine.importSession(talk(["a", "b", "c"], other), { key: KEY, earlier });
  expect(result).toMatchObject({ created: false, entries: 1, skipped: 2, key: KEY });
  const { sessions } = await engine.listSessions();
  expect(sessions).toMatchObject([{ id: result.sessionId, messageCount: 3 }]);
  expect((await engine.verify()).problems).toEqual([]);
}

describe("a lazily created session", () => {
  test("is the faster importer's, with the ids that its entries have there", async () => {
    await using engine = await open(":memory:");
    await interrupted(engine);
  });

  test("is the faster importer's, on PostgreSQL too", async () => {
    await using engine = await open(await createDatabase());
    await interrupted(engine);
  });

  test("gets its title and its summary from the imported entries", async () => {
    await using engine = await open(":memory:");
    const summary = said("c", "What was said.", { kind: "compaction", role: null, actor: null });
    const title = said("t", "", { kind: "session_info", role: null, data: { name: "Cron" } });
    const imported: ImportedSession = {
      ...talk([]),
      entries: (async function* () {
        yield* [said("a", "one"), said("b", "two"), summary, { ...title, blocks: [] }];
      })(),
    };
    const { sessionId } = await engine.importSession(imported);
    const session = await engine.getSessionMeta(sessionId ?? "");
    const { messages } = await engine.listMessages(session.id, { limit: 9 });
    // A summary that keeps nothing covers everything before it.
    expect(session).toMatchObject({
      title: "Cron",
      summary: "What was said.",
      summarizedThrough: messages[1]?.id,
    });
  });
});
