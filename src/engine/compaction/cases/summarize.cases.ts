import { describe, expect, test } from "vitest";
import { type ContextCases, outline, saying, turns } from "../../context/cases/fixture.cases.ts";

export function summarizeCases({ tenant }: ContextCases): void {
  const talk = async () => {
    const handle = await tenant().createSession({ agent: "coder", createdBy: "ana" });
    const entries = await handle.append(turns(5));
    return { handle, ids: entries.map(({ id }) => id) };
  };

  describe("summarize", () => {
    test("writes a summary up to a message, without changing the context", async () => {
      const { handle, ids } = await talk();
      const before = await handle.buildContext({ tokenBudget: 50_000 });
      const summary = await handle.summarize(ids[3], { summarizer: saying("Two turns.") });
      expect(summary).toMatchObject({
        from: ids[0],
        through: ids[3],
        text: "Two turns.",
        model: "m-1",
        tokens: 3,
        parent: null,
        kind: "summary",
        level: 1,
        stale: false,
      });
      expect(await handle.buildContext({ tokenBudget: 50_000 })).toEqual(before);
      expect(await handle.meta()).toMatchObject({ summary: null, leaf: ids.at(-1) });
      expect(await handle.summaries()).toEqual([summary]);
      expect(await handle.getEntry(summary.id)).toMatchObject({ kind: "summary" });
    });

    test("continues from the last compaction, and includes its summary", async () => {
      const { handle, ids } = await talk();
      const { entry } = await handle.compact({ keep: { messages: 4 } });
      const summary = await handle.summarize();
      expect(summary).toMatchObject({ from: ids[6], through: ids.at(-1), parent: entry?.id });
      expect(summary.text).toContain("10 messages: 5 from the user");
      expect((await handle.summaries()).map(({ kind }) => kind)).toEqual(["compaction", "summary"]);
    });

    test("has no effect in an empty session, or right after a compaction of all messages", async () => {
      const empty = await tenant().createSession({ agent: "coder", createdBy: "ana" });
      await expect(empty.summarize()).rejects.toMatchObject({ code: "nothing_to_compact" });
      const { handle } = await talk();
      await handle.compact({ keep: "none" });
      await expect(handle.summarize()).rejects.toMatchObject({ code: "nothing_to_compact" });
      await expect(handle.summarize("nobody")).rejects.toMatchObject({ code: "entry_not_found" });
    });

    test("an edit of a covered message makes a summary stale; the new branch has no summary", async () => {
      const { handle, ids } = await talk();
      const early = await handle.summarize(ids[1]);
      const { entry } = await handle.compact({ keep: { messages: 4 } });
      const late = await handle.summarize();
      await handle.edit(ids[2] ?? "", "another question");
      const stale = (await handle.summaries()).map(({ id, stale: is }) => [id, is]);
      expect(stale).toEqual([
        [early.id, false],
        [entry?.id, true],
        [late.id, true],
      ]);
      const { messages } = await handle.buildContext({ tokenBudget: 50_000 });
      expect(outline(messages)).toEqual(["question 1", "answer 1", "another question"]);
      await handle.branch(late.through);
      const back = await handle.buildContext({ tokenBudget: 50_000, semanticRecall: false });
      expect(outline(back.messages)[0]).toBe("question 1");
    });
  });
}
