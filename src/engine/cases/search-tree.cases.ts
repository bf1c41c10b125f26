import { describe, expect, test } from "vitest";
import { hitsOf, type SearchCases, sessionsOf, snippetsOf, talk } from "./search-fixture.cases.ts";

/** The searchable part of a conversation: streams, branches, edits, forks, deletion. */
export function searchTreeCases({ tenant, settle }: SearchCases): void {
  describe("the searchable path", () => {
    test("has a message the moment its append returns", async () => {
      const own = tenant();
      const session = await talk(own, ["the walrus sleeps"]);
      expect(await sessionsOf(own, "walrus")).toEqual([session.id]);
      for (let i = 0; i < 5; i++) {
        await session.append({ role: "user", content: `token${i}x arrives` });
        expect(await snippetsOf(own, `token${i}x`)).toEqual([`token${i}x arrives`]);
      }
      await settle(own);
      expect(await sessionsOf(own, "walrus")).toEqual([session.id]);
    });

    test("includes a stream once it is committed, and no aborted one", async () => {
      const own = tenant();
      const session = await talk(own, ["begin"]);
      const stream = await session.openMessage({ role: "assistant", actor: "coder" });
      await stream.write("half a platypus");
      await stream.flush();
      expect(await sessionsOf(own, "platypus")).toEqual([]);
      await stream.commit();
      expect(await snippetsOf(own, "platypus")).toEqual(["half a platypus"]);
      const lost = await session.openMessage({ role: "assistant" });
      await lost.write("a stray ocelot");
      await lost.abort();
      await settle(own);
      expect(await sessionsOf(own, "ocelot")).toEqual([]);
      expect(await sessionsOf(own, "ocelot", { branches: "all" })).toEqual([]);
      expect(await sessionsOf(own, "platypus")).toEqual([session.id]);
    });

    test("includes the new text of an edit; the old one only with all branches", async () => {
      const own = tenant();
      const session = await talk(own, ["about the heron", "and more heron"]);
      const [first] = await session.history();
      const edited = await session.edit(first?.id ?? "", "about the stork");
      await settle(own);
      expect(await snippetsOf(own, "stork")).toEqual(["about the stork"]);
      expect(await snippetsOf(own, "heron")).toEqual([]);
      const left = await hitsOf(own, "heron", { branches: "all", perSession: 5 });
      expect(left.map(({ index }) => index).sort()).toEqual([0, 1]);
      for (const { leaf, index, entryId } of left) {
        expect(leaf).not.toBe(edited.id);
        const page = await session.listMessages({
          leaf: leaf ?? "",
          offset: index ?? -1,
          limit: 1,
        });
        expect(page.messages[0]?.id).toBe(entryId);
      }
    });

    test("follows the active leaf", async () => {
      const own = tenant();
      const session = await talk(own, ["root", "the marmot left", "marmot tail"]);
      const [root] = await session.history();
      await settle(own);
      await session.branch(root?.id ?? "");
      await session.append({ role: "user", content: "the badger right" });
      expect(await snippetsOf(own, "marmot")).toEqual([]);
      expect(await snippetsOf(own, "badger")).toEqual(["the badger right"]);
      expect(await snippetsOf(own, "marmot", { branches: "all" })).toHaveLength(2);
      await settle(own);
      expect(await snippetsOf(own, "marmot")).toEqual([]);
      const [active, other] = await session.branches();
      const back = [active, other].find((branch) => branch?.active === false);
      await session.branch(back?.leaf.id ?? "");
      expect(await snippetsOf(own, "marmot")).toHaveLength(2);
      expect(await snippetsOf(own, "badger")).toEqual([]);
    });

    test("shows a message once, for any number of copies in forks", async () => {
      const own = tenant();
      const session = await talk(own, ["the lemur question", "an answer"]);
      const fork = await session.fork({ createdBy: "ben" });
      await fork.append({ role: "user", content: "only the fork has a tapir" });
      await settle(own);
      expect(await snippetsOf(own, "lemur")).toEqual(["the lemur question"]);
      expect(await sessionsOf(own, "tapir")).toEqual([fork.id]);
      await session.delete();
      expect(await sessionsOf(own, "lemur")).toEqual([fork.id]);
    });

    test("has no injected or recalled text", async () => {
      const own = tenant();
      const session = await talk(own, [
        { role: "user", content: "gecko by the client", metadata: { injected: true } },
        { role: "user", content: "gecko from memory", metadata: { recalled: true } },
        "look <system-reminder>at the gecko</system-reminder> here",
        "<recalled-context>gecko</recalled-context> what now",
      ]);
      await session.appendCustomMessage({ type: "note", content: "gecko for the model" });
      await settle(own);
      expect(await sessionsOf(own, "gecko")).toEqual([]);
      expect(await snippetsOf(own, "what now")).toHaveLength(1);
    });

    test("has a message once, for any number of retried appends", async () => {
      const own = tenant();
      const session = await talk(own, []);
      const send = () =>
        session.append({ role: "user", content: "one serval" }, { idempotencyKey: "k" });
      await send();
      await settle(own);
      await send();
      await settle(own);
      expect(await snippetsOf(own, "serval")).toEqual(["one serval"]);
      const { explanation } = await own.searchSessions("serval", { explain: true });
      expect(explanation?.documents).toBe(1);
    });

    test("stays searchable while the index is rebuilt, and afterwards", async () => {
      const own = tenant();
      const session = await talk(own, []);
      for (let i = 0; i < 4; i++) {
        await session.append({ role: "user", content: `caracal number${i}` });
        await settle(own);
      }
      const { version } = await own.indexStatus();
      const rebuilt = own.maintainIndex("rebuild");
      for (let i = 4; i < 10; i++) {
        await session.append({ role: "user", content: `caracal number${i}` });
        expect((await snippetsOf(own, `number${i}`))[0]).toBe(`caracal number${i}`);
        expect(await snippetsOf(own, "caracal")).toHaveLength(i + 1);
      }
      expect((await rebuilt).version).toBeGreaterThan(version);
      expect(await snippetsOf(own, "caracal")).toHaveLength(10);
    });

    test("loses a deleted session at once, with title and facts", async () => {
      const own = tenant();
      const session = await talk(own, ["the jackal barks"], { title: "Jackal" });
      const kept = await talk(own, ["another jackal"]);
      await session.addFacts([{ subject: "jackal", predicate: "is", object: "loud" }]);
      await settle(own);
      expect((await sessionsOf(own, "jackal")).sort()).toEqual([session.id, kept.id].sort());
      expect(await own.searchFacts("jackal")).toHaveLength(1);
      await session.delete();
      expect(await sessionsOf(own, "jackal")).toEqual([kept.id]);
      expect(await own.searchFacts("jackal")).toEqual([]);
      await settle(own);
      expect(await sessionsOf(own, "jackal")).toEqual([kept.id]);
    });

    test("of one session gives the same hits by sessions and by messages, up to a sequence", async () => {
      const own = tenant();
      const animals = ["otter", "stoat", "vole", "shrew"];
      const said = Array.from({ length: 120 }, (_, i) => {
        const words = animals.filter((_animal, bit) => ((i * 7) >> bit) % 2 === 1);
        return `${words.join(" ")} ${"and so on ".repeat(i % 5)}number${i}`;
      });
      const session = await talk(own, said, { title: "otter" });
      await talk(own, ["otter otter otter"]);
      await settle(own);
      await session.append({ role: "user", content: "the last otter and stoat" });
      const within = (limit: number, perSession: number, beforeSequence?: number) =>
        hitsOf(own, "otter stoat number17", {
          ranking: "plain",
          session: session.id,
          limit,
          perSession,
          ...(beforeSequence === undefined ? {} : { beforeSequence }),
        });
      // The order of equal scores is unspecified at the cut.
      const best = (hits: Awaited<ReturnType<typeof within>>) => {
        const last = hits[18]?.score ?? 0;
        return hits
          .slice(0, 19)
          .map(({ entryId, score }) => [score > last ? entryId : "", score.toFixed(9)]);
      };
      // One search ranks sessions, the other single messages.
      expect(best(await within(20, 20))).toEqual(best(await within(20, 19)));
      const early = await within(20, 20, 60);
      expect(early).toHaveLength(20);
      expect(early.every(({ index }) => (index ?? 99) < 59)).toBe(true);
      expect(best(early)).toEqual(best(await within(20, 19, 60)));
    });
  });
}
