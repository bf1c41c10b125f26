import { describe, expect, test } from "vitest";
import { expectCode } from "../../store/cases/fixture.cases.ts";
import type { SessionHandle } from "../session-handle.ts";
import {
  hitsOf,
  marksOf,
  type SearchCases,
  sessionsOf,
  snippetsOf,
  talk,
} from "./search-fixture.cases.ts";

/** A summary in the host's own words. An unanswered message would be left out of it. */
async function summarize(session: SessionHandle, summary: string): Promise<void> {
  // Long, because a compaction without gain is refused; one word, because length counts in ranking.
  await session.append({ role: "assistant", content: "y".repeat(1_500) });
  await session.compact({ keep: "none", before: () => ({ summary }) });
}

/** The shape, order and limits of hits. */
export function searchHitCases({ tenant, settle }: SearchCases): void {
  describe("a hit", () => {
    const chatter = (count: number) => Array.from({ length: count }, (_, i) => `message ${i}`);

    test("has a window around the match, and an index for listMessages", async () => {
      const own = tenant();
      const session = await talk(own, [...chatter(10), "the narwhal", ...chatter(10)]);
      await settle(own);
      const [hit] = await hitsOf(own, "narwhal");
      expect(hit?.window.map(({ index }) => index)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14]);
      expect(hit?.window.filter(({ found }) => found)).toMatchObject([
        { entryId: hit?.entryId, index: 10, role: "user", actor: "ana", snippet: "the narwhal" },
      ]);
      const page = await session.listMessages({ offset: hit?.index ?? -1, limit: 1 });
      expect(page.messages[0]?.id).toBe(hit?.entryId);
      const meta = await session.meta();
      expect(hit).toMatchObject({
        leaf: meta.leaf,
        meta: { title: "", agent: "coder", createdAt: meta.createdAt, messageCount: 21 },
      });
    });

    test("has the request that it answers, or the answer to it, also far beyond its window", async () => {
      const own = tenant();
      const session = await own.createSession({ agent: "coder", createdBy: "ana" });
      const said = (content: string) => ({ role: "assistant" as const, content });
      const called = Array.from({ length: 12 }, (_, i) => [
        said(i === 5 ? "Let me look at the narwhal." : `Step ${i}.`),
        { role: "assistant" as const, toolCalls: [{ id: `c${i}`, name: "Read", input: { i } }] },
        { role: "tool" as const, toolResults: [{ id: `c${i}`, output: "text" }] },
      ]).flat();
      await session.append([
        { role: "user", content: "Where does the narwhal live?" },
        ...called,
        said("The narwhal lives in the lake, below the old mill and its three wheels."),
        { role: "user", content: "Thanks. And the stoat?" },
        said("It is gone."),
      ]);
      await settle(own);
      const none = { contextBefore: 0, contextAfter: 0 };
      const [asked] = await hitsOf(own, "where narwhal live", { ...none, exchange: true });
      const texts = [asked?.window[0], asked?.exchange].map((item) => item?.snippet).toSorted();
      expect(texts).toEqual([
        "The narwhal lives in the lake, below the old mill and its three wheels.",
        "Where does the narwhal live?",
      ]);
      const [answer] = await hitsOf(own, "mill wheels", { ...none, exchange: true });
      expect(answer?.exchange).toMatchObject({ index: 0, role: "user", found: false });
      expect((await hitsOf(own, "mill wheels", none))[0]?.exchange).toBeUndefined();
    });

    test("has at most 16 messages around it, and refuses more", async () => {
      const own = tenant();
      await talk(own, [...chatter(30), "the narwhal", ...chatter(30)]);
      await settle(own);
      for (const [contextBefore, contextAfter] of [
        [15, 0],
        [0, 15],
        [7, 8],
      ] as const) {
        const [hit] = await hitsOf(own, "narwhal", { contextBefore, contextAfter });
        expect(hit?.window).toHaveLength(16);
        expect(hit?.window.filter(({ found }) => found)).toHaveLength(1);
      }
      const [wide] = await hitsOf(own, "narwhal", { contextBefore: 14 });
      expect(wide?.window.map(({ found }) => found).indexOf(true)).toBe(14);
      expect(wide?.window).toHaveLength(16);
      for (const [contextBefore, contextAfter] of [
        [16, 0],
        [0, 16],
        [8, 8],
      ] as const) {
        const asked = own.searchSessions("narwhal", { contextBefore, contextAfter });
        await expect(asked).rejects.toMatchObject({ code: "too_large" });
      }
      const [bare] = await hitsOf(own, "narwhal", { contextBefore: 0, contextAfter: 0 });
      expect(bare?.window.map(({ snippet }) => snippet)).toEqual(["the narwhal"]);
    });

    test("cuts a long text around the match, between code points", async () => {
      const own = tenant();
      const filler = "😀 überall ".repeat(400);
      await talk(own, [`${filler}the walrus 🦭 sings${filler}`, filler]);
      await settle(own);
      const [hit] = await hitsOf(own, "walrus sings");
      const item = hit?.window.find(({ found }) => found);
      expect(item?.truncated).toBe(true);
      expect(Buffer.byteLength(item?.snippet ?? "")).toBeLessThanOrEqual(1_024);
      expect(Buffer.byteLength(item?.snippet ?? "")).toBeGreaterThan(1_000);
      expect(item?.snippet.isWellFormed()).toBe(true);
      expect(marksOf(hit)).toEqual(["walrus", "sings"]);
      const [start = 0] = item?.matches.map((match) => match.start) ?? [];
      expect(start).toBeGreaterThan(200);
      const beside = hit?.window.at(-1)?.snippet ?? "";
      expect([beside.isWellFormed(), beside.startsWith("😀")]).toEqual([true, true]);
    });

    test("shows the matched part: the tool, where the text has no match", async () => {
      const own = tenant();
      await talk(own, [
        {
          role: "assistant",
          content: "Let me look.",
          toolCalls: [{ id: "1", name: "searchFiles", arguments: { pattern: "x" } }],
        },
      ]);
      await settle(own);
      const [hit] = await hitsOf(own, "searchFiles");
      expect(marksOf(hit)).toEqual(["searchFiles"]);
      expect(hit?.window[0]).toMatchObject({ toolName: "searchFiles" });
      const { id } = await talk(own, [
        {
          role: "assistant",
          content: "Wait.",
          toolResults: [{ id: "2", name: "listFolder", output: "a b c" }],
        },
      ]);
      await settle(own);
      const [result] = await hitsOf(own, "listFolder");
      expect(result?.sessionId).toBe(id);
      expect(marksOf(result)).toEqual(["listFolder"]);
    });

    test("shows the user's text without injected text", async () => {
      const own = tenant();
      const reminder = `<system-reminder>${"hoopoe ".repeat(400)}</system-reminder>`;
      await talk(own, [
        `${reminder}\nWhere is the hoopoe?`,
        "<system-reminder>x</system-reminder>",
      ]);
      await settle(own);
      const [hit] = await hitsOf(own, "hoopoe");
      expect(hit?.window.map(({ snippet }) => snippet)).toEqual([
        "Where is the hoopoe?",
        "<system-reminder>x</system-reminder>",
      ]);
    });

    test("of a title or a summary alone has no message, and shows the session's first ones", async () => {
      const own = tenant();
      const titled = await talk(own, ["hello", "bye"], { title: "About the ibex" });
      const summed = await talk(own, ["hello again"]);
      await summarize(summed, "We talked of the kestrel.");
      await settle(own);
      const [byTitle] = await hitsOf(own, "ibex");
      expect(byTitle).toMatchObject({ sessionId: titled.id, entryId: null, index: null });
      expect(byTitle?.window.map(({ snippet }) => snippet)).toEqual(["hello", "bye"]);
      expect(await sessionsOf(own, "kestrel")).toEqual([summed.id]);
      await titled.setTitle("About the chamois");
      expect(await sessionsOf(own, "ibex")).toEqual([]);
      expect(await sessionsOf(own, "chamois")).toEqual([titled.id]);
      await settle(own);
      expect(await sessionsOf(own, "ibex")).toEqual([]);
      await talk(own, [], { title: `The gnu ${"é".repeat(300)}` });
      const [long] = await hitsOf(own, "gnu");
      expect(Buffer.byteLength(long?.meta.title ?? "")).toBeLessThanOrEqual(256);
      expect(long?.window).toEqual([]);
    });

    test("shows its session's current fields", async () => {
      const own = tenant();
      const session = await talk(own, ["the dormouse", "sleeps"], { title: "Before" });
      await settle(own);
      const shown = async () => {
        const [hit] = await hitsOf(own, "dormouse");
        return [hit?.meta.title, hit?.meta.messageCount, hit?.leaf, hit?.window.length];
      };
      const leafOf = async () => (await session.history()).at(-1)?.id;
      expect(await shown()).toEqual(["Before", 2, await leafOf(), 2]);
      await session.setTitle("After");
      expect(await shown()).toEqual(["After", 2, await leafOf(), 2]);
      await session.append({ role: "user", content: "and wakes" });
      expect(await shown()).toEqual(["After", 3, await leafOf(), 3]);
      const [first, second] = await session.history();
      await session.label(first?.id ?? "", "start");
      await session.branch(second?.id ?? "");
      expect(await shown()).toEqual(["After", 3, second?.id, 2]);
      await session.append({ role: "user", content: "and eats" });
      expect(await shown()).toEqual(["After", 4, await leafOf(), 3]);
      await own.deleteSession(session.id);
      expect(await hitsOf(own, "dormouse")).toEqual([]);
    });

    test("is one per session, unless more are requested", async () => {
      const own = tenant();
      await talk(own, ["newt one", "newt two", "newt three"]);
      await talk(own, ["newt four"]);
      await settle(own);
      expect(await hitsOf(own, "newt")).toHaveLength(2);
      expect(await snippetsOf(own, "newt", { perSession: 2 })).toHaveLength(3);
      expect(await snippetsOf(own, "newt", { perSession: 20, limit: 3 })).toHaveLength(3);
    });

    test("has the parts of its score with explain", async () => {
      const own = tenant();
      await talk(own, ["about quails", "nothing"], { title: "Quail" });
      await settle(own);
      const { hits, explanation } = await own.searchSessions("quail the", { explain: true });
      const {
        message = 0,
        neighbours = 0,
        session = 0,
        boost = 0,
        coverage = 0,
      } = hits[0]?.parts ?? {};
      expect(message + neighbours + session + boost + coverage).toBeCloseTo(hits[0]?.score ?? 0, 9);
      expect(boost).toBeGreaterThan(0);
      expect(explanation).toMatchObject({ documents: 2, candidates: 1 });
      expect(explanation?.terms.find(({ term }) => term === "quail")).toMatchObject({
        documents: 1,
      });
      expect((await own.searchSessions("quail")).explanation).toBeUndefined();
    });
  });

  describe("the order of hits", () => {
    test.each(["plain", "default"] as const)(
      "prefers summary and title, then user, then the others (%s)",
      async (ranking) => {
        const own = tenant();
        // The same words in different fields.
        const at = Date.UTC(2026, 0, 1);
        const say = (role: "user" | "assistant") => ({
          role,
          content: "okapi stripe",
          createdAt: at,
        });
        const make = async (message: ReturnType<typeof say> | "tool", over = {}) => {
          const tool = {
            role: "assistant" as const,
            createdAt: at,
            toolCalls: [{ id: "1", name: "okapi stripe", arguments: {} }],
          };
          return talk(own, [message === "tool" ? tool : message], { startedAt: at, ...over });
        };
        const assistant = await make(say("assistant"));
        const tool = await make("tool");
        const user = await make(say("user"));
        const titled = await make(say("user"), { title: "okapi stripe" });
        const summed = await make(say("user"));
        await summarize(summed, "okapi stripe");
        for (let i = 0; i < 5; i++) await talk(own, ["something else"]);
        await settle(own);
        // By default a title weighs more than a summary; in the plain formula, less.
        const others = ranking === "plain" ? [tool, assistant] : [assistant, tool];
        const headed = ranking === "plain" ? [summed, titled] : [titled, summed];
        expect(await sessionsOf(own, "okapi stripe", { ranking })).toEqual(
          [...headed, user, ...others].map(({ id }) => id),
        );
      },
    );

    test("is better for more query words, and stable", async () => {
      const own = tenant();
      const both = await talk(own, ["ferret and weasel"]);
      const one = await talk(own, ["ferret and others"]);
      const two = await talk(own, ["ferret and others"]);
      await settle(own);
      const order = await sessionsOf(own, "ferret weasel");
      expect(order[0]).toBe(both.id);
      expect(order.slice(1).sort()).toEqual([one.id, two.id].sort());
      for (let i = 0; i < 3; i++) expect(await sessionsOf(own, "ferret weasel")).toEqual(order);
    });
  });

  describe("an aborted search", () => {
    test("rejects with the signal's reason, before it begins and while it waits", async () => {
      const own = tenant();
      await talk(own, ["ferret"]);
      const gone = new AbortController();
      const waiting = own.searchSessions("ferret", { signal: gone.signal });
      gone.abort(new Error("typed on"));
      await expect(waiting).rejects.toThrow("typed on");
      await expect(own.searchSessions("ferret", { signal: gone.signal })).rejects.toThrow(
        "typed on",
      );
      const { signal } = new AbortController();
      expect((await own.searchSessions("ferret", { signal })).hits).toHaveLength(1);
    });
  });

  describe("limits", () => {
    test("are reported with the way out", async () => {
      const own = tenant();
      await expectCode(own.searchSessions("x", { limit: 21 }), "too_large");
      await expectCode(own.searchSessions("x", { perSession: 21 }), "too_large");
      await expectCode(own.searchSessions("x", { limit: 0 }), "invalid_input");
      await expectCode(own.searchSessions("x", { contextBefore: -1 }), "invalid_input");
      await expectCode(own.searchSessions("x".repeat(16_385)), "too_large");
      await expectCode(own.searchSessions(7 as never), "invalid_input");
      const many = Array.from({ length: 1_001 }, (_, i) => `s${i}`);
      await expectCode(own.searchSessions("x", { excludeSession: many }), "too_large");
      await expectCode(own.searchSessions("x", { role: "king" }), "invalid_input");
      await expectCode(
        own.searchSessions("x", { ranking: { speed: 1 } as never }),
        "invalid_input",
      );
      await expectCode(own.searchMemory("x", { limit: 21 }), "too_large");
      expect(await own.searchSessions("x".repeat(16_384))).toMatchObject({ hits: [] });
    });
  });
}
