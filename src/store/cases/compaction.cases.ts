import { describe, expect, test } from "vitest";
import type { EntryQuery } from "../entry-query.ts";
import type { NewEntry, NewSummary } from "../records.ts";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  feedOf,
  label,
  marked,
  message,
  nextId,
  T0,
  textOf,
} from "./fixture.cases.ts";

export function compactionCases({ store, tenant }: Cases): void {
  describe("a session's summary, written with its compaction", () => {
    const compact = (acme: string, id: string, summary: NewSummary) =>
      store().append(acme, {
        sessionId: id,
        entries: [message("so far", { kind: "compaction", role: null, actor: null })],
        summary,
        now: T0,
      });

    test("compare-and-swap: is refused if another compaction came between", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const [one = "", two = ""] = ids;
      const first = await compact(acme, id, {
        text: "first",
        through: one,
        expectedCompaction: null,
      });
      const before = first.entries[0]?.id ?? "";
      expect(await store().findSession(acme, id)).toMatchObject({
        summary: "first",
        summarizedThrough: one,
      });
      const late = compact(acme, id, { text: "late", through: two, expectedCompaction: null });
      await expectCode(late, "compaction_conflict", { sessionId: id, through: two });
      await compact(acme, id, { text: "second", through: two, expectedCompaction: before });
      expect(await store().findSession(acme, id)).toMatchObject({
        summary: "second",
        summarizedThrough: two,
        entryCount: 5,
      });
    });

    test("is refused if the path branched off before the last covered entry", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const [one = "", two = "", three = ""] = ids;
      await append(store(), acme, id, message("other", { parentId: one, supersedes: two }));
      for (const through of [two, three]) {
        const lost = compact(acme, id, { text: "lost", through, expectedCompaction: null });
        await expectCode(lost, "compaction_conflict", { through });
      }
      const unknown = compact(acme, id, { text: "x", through: nextId(), expectedCompaction: null });
      await expectCode(unknown, "entry_not_found");
      expect(await store().findSession(acme, id)).toMatchObject({ summary: null, entryCount: 4 });
      await compact(acme, id, { text: "kept", through: one, expectedCompaction: null });
      expect(await store().findSession(acme, id)).toMatchObject({ summary: "kept" });
    });
  });

  test("the feed reports compactions with their figures, and the context tokens of each model call", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    await append(
      store(),
      acme,
      id,
      message("a", {
        role: "assistant",
        contextWindow: 100,
        estimatedContext: { tokens: 70, after: null },
      }),
      message("b", { role: "assistant", estimatedContext: { tokens: 90, after: "elsewhere" } }),
      message("s", {
        kind: "compaction",
        role: null,
        feedDetails: { tokensBefore: 9, covered: 1 },
      }),
    );
    expect(await feedOf(store(), acme, 1)).toEqual([
      "entry_appended",
      ["context_usage", { contextTokens: 70, contextWindow: 100, estimated: true }],
      "entry_appended",
      ["context_usage", { contextTokens: null, estimated: true }],
      ["entry_appended", { kind: "compaction", status: "committed", tokensBefore: 9, covered: 1 }],
    ]);
  });

  describe("marked entries", () => {
    test("are found in the whole session, on the active path, and on another path", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const [one = "", two = "", three = ""] = ids;
      await append(store(), acme, id, label("x", three), summary("s3"));
      const branch = message("b2", { parentId: one, supersedes: two });
      await append(store(), acme, id, branch, summary("sb"));
      for (const entry of [one, three, branch.id]) {
        await store().setPinned(acme, id, entry, true, T0);
      }
      const texts = async (...args: [Parameters<typeof marked>[3], (string | null)?]) =>
        (await marked(store(), acme, id, ...args)).map(textOf);
      expect(await texts("pinned")).toEqual(["1", "3", "b2"]);
      expect(await texts("pinned", null)).toEqual(["1", "b2"]);
      expect(await texts("pinned", three)).toEqual(["1", "3"]);
      expect(await texts("superseded")).toEqual(["2"]);
      expect(await texts("superseded", null)).toEqual([]);
      expect(await texts("superseded", three)).toEqual(["2"]);
      expect(await texts("summary")).toEqual(["s3", "sb"]);
      expect(await texts("summary", null)).toEqual(["sb"]);
      expect(await texts("summary", three)).toEqual(["s3"]);
      expect(await marked(store(), acme, id, "label")).toHaveLength(1);
      await store().setPinned(acme, id, three, false, T0);
      expect(await texts("pinned", three)).toEqual(["1"]);
      const newest = await store().readEntries(acme, { ...MARKED, sessionId: id, limit: 1 });
      expect(newest.entries.map(textOf)).toEqual(["b2"]);
      await expectCode(marked(store(), acme, id, "pinned", nextId()), "entry_not_found");
      await expectCode(marked(store(), acme, "none", "pinned"), "session_not_found");
    });
  });

  test("history filters by kind: messages, summaries, or all kinds of a context", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    const all = ["message", "compaction", "branch_summary", "custom_message", "custom", "summary"];
    const entries = all.map((kind) => message(kind, { kind: kind as NewEntry["kind"] }));
    await append(store(), acme, id, ...entries, message("gone", { status: "aborted" }));
    const kinds = async (include: "messages" | "summaries" | "context", before?: string) => {
      const { entries: found } = await store().readEntries(acme, {
        select: "history",
        sessionId: id,
        include,
        limit: 10,
        payloads: false,
        ...(before === undefined ? {} : { before }),
      });
      return found.map((entry) => entry.kind);
    };
    expect(await kinds("messages")).toEqual(["message"]);
    expect(await kinds("summaries")).toEqual(["message", "compaction"]);
    expect(await kinds("context")).toEqual(all.slice(0, 4));
    expect(await kinds("context", entries[2]?.id)).toEqual(all.slice(0, 2));
  });
}

const MARKED: Omit<Extract<EntryQuery, { select: "marked" }>, "sessionId"> = {
  select: "marked",
  mark: "pinned",
  limit: 500,
  payloads: false,
};

function summary(text: string): NewEntry {
  return message(text, { kind: "summary", role: null, actor: null });
}
