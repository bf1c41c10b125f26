import { describe, expect, test } from "vitest";
import { expectCode } from "../../store/cases/fixture.cases.ts";
import { hitsOf, SECRET, type SearchCases, talk } from "./search-fixture.cases.ts";

const ALL = { perSession: 20, limit: 20 };

/** What a person says of messages and sessions that do not hold. */
export function searchMarkCases({ tenant, settle }: SearchCases): void {
  describe("a mark", () => {
    test("of a message is shown on its hit, which ranks below the others", async () => {
      const own = tenant();
      const old = await talk(own, ["the narwhal deploys on friday", "narwhal"]);
      const other = await talk(own, ["we said that the narwhal might well deploy on a friday"]);
      await settle(own);
      const [first, , last] = await hitsOf(own, "narwhal deploys friday", ALL);
      expect(first?.mark).toBeUndefined();
      const [right] = (await other.history()).map(({ id }) => id);
      const reason = `Moved, see ${SECRET}`;
      const said = await old.mark({
        entryId: first?.entryId ?? "",
        replacedBy: right ?? "",
        reason,
        actor: "ana",
      });
      const { shortId } = await other.meta();
      expect(said).toMatchObject({
        entryId: first?.entryId,
        index: 0,
        kind: "replaced",
        reason,
        actor: "ana",
        replacedBy: { sessionId: other.id, shortId, entryId: right, index: 0 },
      });
      await settle(own);
      const hits = await hitsOf(own, "narwhal deploys friday", ALL);
      expect(hits.map(({ entryId }) => entryId)).toEqual([right, last?.entryId, first?.entryId]);
      expect(hits.map(({ mark }) => mark)).toEqual([
        undefined,
        undefined,
        { ...said, reason: "Moved, see [redacted]" },
      ]);
      expect(await old.marks()).toEqual([said]);
      expect(await other.marks()).toEqual([]);
    });

    test("is taken back, and replaced, by another", async () => {
      const own = tenant();
      const session = await talk(own, ["narwhal one", "narwhal two"]);
      const [entryId = ""] = (await session.history()).map(({ id }) => id);
      await session.label(entryId, "start");
      await session.mark({ entryId, reason: "No." });
      await session.mark({ entryId, reason: "It was two.", replacedBy: session.id });
      await settle(own);
      const marked = async () => (await hitsOf(own, "narwhal one", ALL)).map(({ mark }) => mark);
      expect((await marked()).map((mark) => mark?.reason)).toEqual([undefined, "It was two."]);
      expect((await session.marks()).map(({ kind }) => kind)).toEqual(["replaced"]);
      await session.unmark({ entryId, actor: "ana" });
      await settle(own);
      expect(await marked()).toEqual([undefined, undefined]);
      expect(await session.marks()).toEqual([]);
      expect(await session.labels()).toEqual(new Map([[entryId, "start"]]));
      // All of it stays in the log.
      const { entries } = await session.listEntries({ tree: true });
      expect(entries.map(({ kind, actor }) => [kind, actor]).slice(2)).toEqual([
        ["label", null],
        ["label", null],
        ["label", null],
        ["label", "ana"],
      ]);
    });

    test("of a session is on all its hits", async () => {
      const own = tenant();
      const wrong = await talk(own, ["narwhal narwhal", "narwhal"]);
      const right = await talk(own, ["perhaps the narwhal"]);
      await wrong.mark({ reason: "A trial." });
      await settle(own);
      const hits = await hitsOf(own, "narwhal", ALL);
      expect(hits.map(({ sessionId }) => sessionId)).toEqual([right.id, wrong.id, wrong.id]);
      expect(hits.map(({ mark }) => mark?.entryId)).toEqual([undefined, null, null]);
    });

    test("leaves half of the places to what holds, and never hides a hit", async () => {
      const own = tenant();
      const wrong = await talk(own, Array(3).fill("narwhal narwhal"));
      for (let i = 0; i < 6; i++) await talk(own, ["a narwhal among other things"]);
      await wrong.mark({ reason: "A trial." });
      await settle(own);
      const marked = async (limit: number) =>
        (await hitsOf(own, "narwhal", { limit, perSession: 6 })).map(
          ({ mark }) => mark !== undefined,
        );
      expect(await marked(1)).toEqual([false]);
      expect(await marked(4)).toEqual([false, false, true, true]);
      expect(await marked(12)).toEqual([...Array(6).fill(false), ...Array(3).fill(true)]);
    });

    test("is copied with its message into a fork", async () => {
      const own = tenant();
      const session = await talk(own, ["narwhal", "and the whale"]);
      const [entryId = "", other = ""] = (await session.history()).map(({ id }) => id);
      await session.mark({ entryId, replacedBy: other, reason: "No." });
      await session.mark({ reason: "A trial." });
      const fork = await session.fork({ createdBy: "ana" });
      const [copy, otherCopy] = await fork.history();
      expect(await fork.marks()).toMatchObject([
        { entryId: copy?.id, replacedBy: { sessionId: fork.id, entryId: otherCopy?.id } },
      ]);
    });

    test("is on what a recall and a context quote", async () => {
      const own = tenant();
      const filler = Array.from({ length: 30 }, (_, i) => `message ${i}`);
      const session = await talk(own, ["the narwhal deploys on friday", ...filler, "the end"]);
      const [entryId = ""] = (await session.listMessages({ limit: 1 })).messages.map(
        ({ id }) => id,
      );
      await session.mark({ entryId, reason: 'It is "Monday".' });
      await settle(own);
      const recalled = [];
      for await (const item of session.recall("narwhal friday")) recalled.push(item);
      expect(recalled).toMatchObject([{ type: "message", mark: { kind: "wrong" } }]);
      const { messages } = await session.buildContext({
        tokenBudget: 400,
        recentTurns: 1,
        query: "narwhal friday",
        semanticRecall: { k: 3, threshold: 0 },
      });
      expect(JSON.stringify(messages)).toContain(
        JSON.stringify(' marked="wrong: It is &quot;Monday&quot;."').slice(1, -1),
      );
    });

    test("is refused without a reason, and for what does not exist", async () => {
      const own = tenant();
      const session = await talk(own, ["narwhal"]);
      const other = await talk(own, ["whale"]);
      const [theirs = ""] = (await other.history()).map(({ id }) => id);
      await expectCode(session.mark({ reason: " " }), "invalid_input");
      await expectCode(session.mark({ entryId: theirs, reason: "No." }), "entry_not_found");
      await expectCode(session.unmark({ entryId: theirs }), "entry_not_found");
      await expectCode(session.mark({ replacedBy: "nothing", reason: "No." }), "entry_not_found");
      await expectCode(session.mark({ replacedBy: session.id, reason: "No." }), "invalid_input");
      await expectCode(own.session("nothing").mark({ reason: "No." }), "session_not_found");
    });
  });
}
