import { describe, expect, test } from "vitest";
import { outline, saying } from "../../context/cases/fixture.cases.ts";
import { compact, type RetentionCases, said, say, sayMore, USAGE } from "./fixture.cases.ts";

const MODES = ["audit-only", "ephemeral"] as const;

/** The number of covered messages in a mechanical summary. */
const COUNTS = /(\d+) (?:messages:|earlier messages)/g;

export function forgetCases({ engine, tenant }: RetentionCases): void {
  describe("an erased message", () => {
    test.each(MODES)(
      "%s: has no content, and the fields that the mode keeps",
      async (retention) => {
        const { handle, ids } = await say(tenant(), retention, "quokka", "wombat", "dingo", "emu");
        const [before] = (await handle.listMessages({ offset: 1, limit: 1 })).messages;
        const result = await compact(handle, 2);
        expect(result).toMatchObject({ removed: 2, erased: 2 });
        expect(await said(handle)).toEqual([null, null, "dingo", "emu"]);
        const after = await handle.getEntry(ids[1] ?? "");
        const { id, hash, parentId, sequence, index, role, createdAt } = before ?? after;
        expect(after).toMatchObject({ id, hash, parentId, sequence, index, role, createdAt });
        expect(after).toMatchObject({ erased: true, blocks: [], data: null, truncated: false });
        const { actor, usage, metadata } = after;
        expect({ actor, usage, metadata }).toEqual(
          retention === "audit-only"
            ? { actor: "coder", usage: USAGE, metadata: { channel: "web" } }
            : { actor: null, usage: null, metadata: {} },
        );
        const meta = await handle.meta();
        expect(meta).toMatchObject({
          messageCount: 4,
          tokens: { inputTokens: 6, outputTokens: 8 },
        });
        expect(await handle.applyRetention()).toEqual({ erased: 0 });
      },
    );

    test("full: keeps everything", async () => {
      const { handle } = await say(tenant(), "full", "quokka", "wombat", "dingo");
      expect(await compact(handle, 1)).toMatchObject({ removed: 2, erased: 0 });
      expect(await said(handle)).toEqual(["quokka", "wombat", "dingo"]);
    });

    test("still has its place: history, context, fork, labels, another answer", async () => {
      const { handle, ids } = await say(tenant(), "ephemeral", "a", "b", "c", "d");
      await handle.label(ids[0] ?? "", "start");
      await compact(handle, 2);
      await sayMore(handle, "e");
      const texts = async (session = handle) =>
        outline((await session.buildContext({ tokenBudget: 9_000 })).messages);
      expect(await texts()).toEqual(["summary", "about c", "about d", "about e"]);
      expect((await handle.history()).map(({ erased }) => erased)).toEqual([
        true,
        true,
        false,
        false,
        false,
      ]);
      expect(await handle.labels()).toEqual(new Map([[ids[0], "start"]]));
      const fork = await handle.fork({ createdBy: "ben" });
      expect(await said(fork)).toEqual([null, null, "c", "d", "e"]);
      expect(await texts(fork)).toEqual(["summary", "about c", "about d", "about e"]);
      await handle.regenerate(ids[1] ?? "", { role: "assistant", content: "about b2" });
      // The content there is erased, and this path has no summary.
      expect(await texts()).toEqual(["about b2"]);
    });
  });

  describe("the index", () => {
    test.each(MODES)("%s: finds the summary and not the covered text", async (retention) => {
      const own = tenant();
      const { handle, ids } = await say(own, retention, "quokka", "wombat", "dingo", "quokka");
      await own.maintainIndex("flush");
      await handle.addFacts([
        { subject: "quokka", predicate: "is", object: "small", sourceEntry: ids[0] ?? "" },
        { subject: "dingo", predicate: "is", object: "wild", sourceEntry: ids[2] ?? "" },
      ]);
      await compact(handle, 2);
      const hits = async (query: string) =>
        (await own.searchSessions(query, { perSession: 5, contextBefore: 1, contextAfter: 0 }))
          .hits;
      const expectForgotten = async () => {
        expect(await hits("wombat")).toEqual([]);
        expect((await hits("quokka")).map(({ entryId }) => entryId)).toEqual([ids[3]]);
        expect((await hits("animals")).map(({ entryId }) => entryId)).toEqual([null]);
        const [hit] = await hits("dingo");
        const snippets = hit?.window.map(({ snippet }) => snippet.slice(0, "about dingo".length));
        expect(snippets).toEqual(["", "about dingo"]);
        expect(await own.searchFacts("quokka")).toEqual([]);
        expect(await own.searchFacts("dingo")).toHaveLength(1);
        expect(await own.listFacts({ superseded: true })).toHaveLength(1);
      };
      await expectForgotten();
      for (const task of ["flush", "merge", "rebuild", "purge"] as const) {
        await own.maintainIndex(task);
        await expectForgotten();
      }
      expect((await own.indexStatus()).documents).toBe(2);
    });
  });

  describe("a summary", () => {
    test.each([
      ["rolling", "rich"],
      ["rolling", "claw"],
      ["hierarchical", "rich"],
    ] as const)(
      "that is %s and %s quotes nothing, and later summaries build upon it",
      async (strategy, profile) => {
        const own = tenant();
        const { handle } = await say(own, "audit-only", "quokka", "wombat", "dingo", "emu");
        const options = { strategy, profile, keep: { messages: 1 } } as const;
        for (const word of ["bilby", "numbat", "possum", "koala", "kowari"]) {
          await handle.compact(options);
          await sayMore(handle, word);
        }
        const summaries = (await handle.listEntries({ tree: true, limit: 500 })).entries.filter(
          ({ kind }) => kind === "compaction" || kind === "summary",
        );
        const stored = JSON.stringify([summaries, await handle.meta()]);
        for (const word of ["quokka", "wombat", "dingo", "emu", "bilby", "numbat", "possum"]) {
          expect(stored).not.toContain(word);
        }
        const scopes = [...((await handle.meta()).summary ?? "").matchAll(COUNTS)];
        expect(scopes.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(7);
        expect(summaries.filter(({ kind }) => kind === "compaction")).toHaveLength(5);
      },
    );

    test("made by summarize() does not quote either", async () => {
      const { handle } = await say(tenant(), "ephemeral", "quokka", "wombat");
      const { id } = await handle.summarize();
      expect(JSON.stringify(await handle.getEntry(id))).not.toContain("quokka");
    });

    test("written under full retention is erased with the next one", async () => {
      const { handle } = await say(tenant(), "full", "quokka", "wombat", "dingo", "emu");
      const { entry: first } = await handle.compact({ keep: { messages: 2 } });
      await handle.update({ retention: "audit-only" });
      expect(await handle.applyRetention()).toEqual({ erased: 2 });
      expect(await said(handle)).toEqual([null, null, "dingo", "emu"]);
      expect((await handle.getEntry(first?.id ?? "")).erased).toBe(false);
      const { entry: second } = await handle.compact({ keep: { messages: 1 } });
      expect((await handle.getEntry(first?.id ?? "")).erased).toBe(true);
      expect((await handle.summaries()).map(({ id }) => id)).toEqual([second?.id]);
      expect(JSON.stringify(await handle.listEntries({ limit: 99 }))).not.toContain("wombat");
    });
  });

  describe("retention", () => {
    test("may be given in the metadata instead of the field", async () => {
      const make = async (input: object) => {
        const session = await tenant().createSession({ agent: "a", createdBy: "b", ...input });
        return session;
      };
      const metadata = { retention: "ephemeral" };
      const handle = await make({ metadata });
      expect((await handle.meta()).retention).toBe("ephemeral");
      expect((await (await make({ metadata, retention: "full" })).meta()).retention).toBe("full");
      expect(await handle.update({ metadata: { retention: "audit-only" } })).toMatchObject({
        retention: "audit-only",
      });
      expect(await handle.update({ metadata: { other: 1 } })).toMatchObject({
        retention: "audit-only",
      });
      expect(await handle.update({ metadata: { retention: null } })).toMatchObject({
        retention: "full",
        metadata: { other: 1 },
      });
      await expect(make({ metadata: { retention: "never" } })).rejects.toMatchObject({
        code: "invalid_input",
        details: { field: "metadata.retention" },
      });
    });

    test("that becomes stricter applies to earlier erasures", async () => {
      const { handle, ids } = await say(tenant(), "audit-only", "quokka", "wombat", "dingo");
      await compact(handle, 1);
      await handle.update({ retention: "ephemeral" });
      expect(await handle.applyRetention()).toEqual({ erased: 2 });
      expect(await handle.getEntry(ids[0] ?? "")).toMatchObject({ actor: null, metadata: {} });
    });

    test("is completed by a sweep", async () => {
      const own = tenant();
      const made = [];
      for (let i = 0; i < 3; i++) {
        const { handle } = await say(own, "full", "quokka", "wombat", "dingo");
        await compact(handle, 1);
        await handle.update({ retention: i === 0 ? "full" : "ephemeral" });
        made.push(handle);
      }
      expect(await own.sweep()).toMatchObject({ erasedEntries: 4, deletedSessions: [] });
      expect(await own.sweep()).toMatchObject({ erasedEntries: 0 });
      const left = [];
      for (const handle of made) left.push((await said(handle))[0]);
      expect(left).toEqual(["quokka", null, null]);
    });

    test("of an unknown session is an error", async () => {
      const { handle } = await say(tenant(), "ephemeral", "quokka");
      await handle.delete();
      await expect(handle.applyRetention()).rejects.toMatchObject({ code: "session_not_found" });
    });

    test("applies to thousands of entries, in batches", async () => {
      const { handle } = await say(tenant(), "audit-only", "first");
      const words = Array.from({ length: 700 }, (_, i) => ({
        role: "user" as const,
        content: `about w${i}`,
      }));
      await handle.append(words);
      const result = await handle.compact({ keep: { messages: 1 }, summarizer: saying("Words.") });
      expect(result).toMatchObject({ removed: 700, erased: 700 });
      const changes = await tenantChanges(handle.id);
      expect(changes).toEqual([200, 200, 200, 100]);

      async function tenantChanges(sessionId: string): Promise<unknown[]> {
        const own = engine().forTenant((await handle.meta()).tenant);
        const { changes: all } = await own.listChanges({ after: "start", limit: 500 });
        const rest = await own.listChanges({ after: all.at(-1)?.cursor ?? "start", limit: 500 });
        return [...all, ...rest.changes]
          .filter(({ kind, sessionId: id }) => kind === "content_erased" && id === sessionId)
          .map(({ details }) => details["entries"]);
      }
    });
  });
}
