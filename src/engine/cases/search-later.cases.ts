import { describe, expect, test } from "vitest";
import { NO_PROJECT_ID } from "../../model/session.ts";
import type { CreateSessionInput } from "../session-input.ts";
import { hitsOf, type SearchCases, talk } from "./search-fixture.cases.ts";

/** What a later message says differently. */
export function searchLaterCases({ tenant, settle }: SearchCases): void {
  describe("a later statement", () => {
    const origin = { source: "test", repo: "example.org/shop" };

    /** Whether it supersedes the earlier one, of ana's in the same repository. */
    async function supersedes(fields: Partial<CreateSessionInput>, first = fields) {
      const own = tenant();
      const shared = { createdBy: "ana", origin };
      const limit = "The retry limit of the upload worker is";
      const earlier = { ...shared, ...first, metadata: {} };
      await talk(own, [{ role: "user", content: `${limit} 3 attempts.`, createdAt: 1 }], earlier);
      const said = [{ role: "user" as const, content: `${limit} now 7 attempts.`, createdAt: 2 }];
      const later = await talk(own, said, { ...shared, ...fields });
      await settle(own);
      const hits = await hitsOf(own, "retry limit of the upload worker", { machineMade: true });
      expect(hits).toHaveLength(2);
      return hits.some(({ supersededBy }) => supersededBy?.sessionId === later.id);
    }

    test("of the same person in the same place supersedes an earlier one", async () => {
      expect(await supersedes({})).toBe(true);
    });

    test("of another owner, or to a sub-agent, does not", async () => {
      expect(await supersedes({ createdBy: "ben" }, {})).toBe(false);
      expect(await supersedes({ metadata: { machineMade: true } })).toBe(false);
      const key = { origin: { ...origin, key: "k/sub" }, metadata: { parent: { key: "k" } } };
      expect(await supersedes(key, {})).toBe(false);
    });

    test("of another owner without a folder does not", async () => {
      const nowhere = { origin: { source: "test", projectId: NO_PROJECT_ID } };
      expect(await supersedes({ ...nowhere, createdBy: "ben" }, nowhere)).toBe(false);
      expect(await supersedes(nowhere)).toBe(true);
      expect(await supersedes({ origin }, nowhere)).toBe(false);
    });
  });
}
