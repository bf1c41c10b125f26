import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TenantApi } from "../engine/interfaces.ts";
import { readTranscript } from "../ingest/read-transcript.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import type { Entry } from "../model/entry.ts";
import { open } from "../open.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";
import { numbered, sessionOf } from "./import.cases.ts";

const FIXTURES = join(import.meta.dirname, "../../test/fixtures");
const FILES = globSync("{claude-code,codex,pi,claw-code,gemini-cli}/*.{jsonl,json}", {
  cwd: FIXTURES,
}).sort();

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

async function importFile(tenant: TenantApi, file: string) {
  const path = join(FIXTURES, file);
  const transcript = await readTranscript({ path, bytes: [readFileSync(path)] });
  const results = [];
  const entries: Entry[] = [];
  for await (const session of transcript.sessions) {
    const { sessionId, ...result } = await tenant.importSession(session, {
      file,
      workstation: "w1",
      projectId: "p1",
      metadata: { a: 1 },
      describe: (before, title) => ({
        title: `${before.title}: ${title ?? "untitled"}`,
        ttl: 5,
        metadata: { b: 2 },
        figures: {
          exchangeCount: 1,
          toolCounts: {},
          fileMtime: 3,
          firstMessageAt: null,
          lastMessageAt: null,
        },
      }),
    });
    const handle = await tenant.getSession(sessionId ?? "");
    const { id: _, shortId: _s, createdAt: __, lastWriteAt: ___, ...meta } = await handle.meta();
    results.push({ ...result, meta: JSON.stringify(meta, withoutNow) });
    entries.push(...(await handle.listEntries({ tree: true, limit: 500 })).entries);
  }
  return {
    results,
    problems: transcript.problems.first,
    counts: transcript.problems.counts,
    // As text, because the hash is over text. It also covers the session's id.
    entries: entries.map(({ sessionId: _, hash: __, ...entry }) =>
      JSON.stringify(entry, withoutNow),
    ),
  };
}

/** Entries without a time get the storing time. */
function withoutNow(_name: string, value: unknown): unknown {
  return typeof value === "number" && value > Date.now() - 3_600_000 ? "now" : value;
}

describe("a session parsed here and stored at a server", () => {
  test("equals a locally stored one, to the order of its fields", async () => {
    const local = await open(":memory:");
    expect(FILES.length).toBeGreaterThan(5);
    for (const file of FILES) {
      expect(await importFile(served.remote, file), file).toStrictEqual(
        await importFile(local, file),
      );
      // Nothing is stored twice.
      const again = await importFile(served.remote, file);
      expect(again.results.every(({ entries }) => entries === 0)).toBe(true);
    }
    await local.close();
  });

  test("may be large, and is never held whole", async () => {
    const told: number[] = [];
    const result = await served.remote.importSession(sessionOf("large", numbered(3_000)), {
      onProgress: (read) => told.push(read),
    });
    expect(result).toMatchObject({ created: true, entries: 3_000, skipped: 0, problems: 0 });
    expect(told.at(-1)).toBe(3_000);
  });

  test("is only counted in a dry run, and skipped once it was forgotten", async () => {
    const { remote } = served;
    const dry = await remote.importSession(sessionOf("dry", numbered(3)), { dryRun: true });
    expect(dry).toMatchObject({ sessionId: null, created: true, entries: 3 });
    const { sessionId } = await remote.importSession(sessionOf("gone", numbered(3)));
    await remote.deleteSession(sessionId ?? "");
    const input = { skipForgotten: true };
    const forgotten = await remote.importSession(sessionOf("gone", numbered(30_000)), input);
    expect(forgotten).toMatchObject({ sessionId: null, forgotten: true, entries: 0 });
  });

  test("fails as its reader or the store does", async () => {
    const { remote, engine } = served;
    async function* broken(): AsyncGenerator<ImportedEntry> {
      yield* numbered(5);
      throw new Error("the disk is gone");
    }
    const failing = remote.importSession(sessionOf("broken", broken()));
    await expect(failing).rejects.toThrow("the disk is gone");
    await engine.setQuota({ maxEntries: 1 });
    const full = remote.importSession(sessionOf("full", numbered(20_000)));
    await expect(full).rejects.toMatchObject({ code: "quota_exceeded" });
    await engine.setQuota({ maxEntries: null });
    const wrong = { ...sessionOf("wrong", numbered(1)), agent: 5 as unknown as string };
    await expect(remote.importSession(wrong)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("returns the server's problems", async () => {
    async function* twice(): AsyncGenerator<ImportedEntry> {
      yield* numbered(1);
      yield* numbered(1);
    }
    const session = sessionOf("twice", twice());
    const result = await served.remote.importSession(session);
    expect(result.problems).toBe(1);
    expect(session.problems.first).toMatchObject([{ code: "duplicate_id" }]);
  });
});
