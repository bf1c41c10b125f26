import { describe, expect, test } from "vitest";
import { expectCode } from "../../store/cases/fixture.cases.ts";
import { hitsOf, type SearchCases, talk } from "./search-fixture.cases.ts";

const DAY = 86_400_000;

/** What a person reads: which message of a session, how many sessions, in which order. */
export function searchPageCases({ tenant, settle }: SearchCases): void {
  describe("pages", () => {
    test("show each session once, also those that only asked, and as many as the total", async () => {
      const own = tenant();
      for (let i = 0; i < 45; i++) {
        const said = i % 9 === 0 ? "Where does the okapi sleep?" : `The okapi ate ${i} leaves.`;
        await talk(own, [
          said,
          ...(i % 2 === 0 ? [{ role: "assistant" as const, content: "I see." }] : []),
        ]);
      }
      await settle(own);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await own.searchSessions("okapi", {
          limit: 10,
          total: true,
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(page.total).toBe(45);
        for (const { shortId, onlyAsked = [] } of page.hits) seen.push(shortId, ...onlyAsked);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect([seen.length, new Set(seen).size]).toEqual([45, 45]);
      const { nextCursor = "" } = await own.searchSessions("okapi", { limit: 1 });
      const wrong = own.searchSessions("leaves", { cursor: nextCursor });
      await expectCode(wrong, "invalid_cursor");
      await expectCode(own.searchSessions("okapi", { cursor: "x" }), "invalid_cursor");
    });

    test("by time have the newest of the best first", async () => {
      const own = tenant();
      const ids: string[] = [];
      for (const day of [2, 1, 3]) {
        const content = `okapi ${"leaf ".repeat(day * 3)}`;
        const createdAt = Date.UTC(2026, 0, 1) + day * DAY;
        const session = await talk(own, [{ role: "user", content, createdAt }]);
        ids[day - 1] = session.id;
      }
      await settle(own);
      const hits = await hitsOf(own, "okapi", { sort: "time" });
      expect(hits.map(({ sessionId }) => sessionId)).toEqual(ids.toReversed());
    });
  });

  describe("of equally good messages of a session", () => {
    test("talk is shown, not what tools were given or gave back", async () => {
      const own = tenant();
      const calls = (i: number) => ({
        role: "assistant" as const,
        toolCalls: [{ id: `${i}`, name: "Bash", arguments: { command: "grep zoo in okapi.txt" } }],
      });
      const session = await talk(own, [
        "Where is the okapi kept, in the old zoo or in the new one?",
        calls(1),
        {
          role: "tool",
          toolResults: [
            { id: "1", name: "Bash", output: "The zoo has an okapi; it is old.\n".repeat(4) },
          ],
        },
        calls(2),
      ]);
      await settle(own);
      const [hit] = await hitsOf(own, "okapi zoo");
      expect([hit?.sessionId, hit?.index]).toEqual([session.id, 0]);
    });
  });
}
