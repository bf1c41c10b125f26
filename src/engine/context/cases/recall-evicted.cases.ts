import { describe, expect, test } from "vitest";
import { repeats } from "../../../../test/support/repeats.ts";
import { textOf } from "../../../model/block.ts";
import type { BuiltContext } from "../build-context.ts";
import { type ContextCases, turns } from "./fixture.cases.ts";

const WORDS = [
  "alder",
  "birch",
  "cedar",
  "doum",
  "elmwood",
  "fig",
  "ginkgo",
  "hazel",
  "ironwood",
  "juniper",
  "kapok",
  "larch",
  "mahogany",
  "neem",
  "olive",
  "pinewood",
  "quince",
  "rowan",
  "spruce",
  "teak",
  "umbrella",
  "viburnum",
  "willow",
  "xylosma",
  "yew",
  "zelkova",
  "acacia",
  "baobab",
  "cypress",
  "dogwood",
];

export function recallEvictedCases({ tenant }: ContextCases): void {
  describe("the evicted part of the path", () => {
    /** Each word in its own turn of about 250 tokens, after a pinned entry. */
    const talk = async (pinnedTokens: number) => {
      const session = await tenant().createSession({ agent: "coder", createdBy: "ana" });
      if (pinnedTokens > 0) {
        const content = "rule ".repeat((pinnedTokens * 4) / 5);
        const rule = await session.append({ role: "user", actor: "ana", content });
        await session.pin(rule.id);
        await session.append({ role: "assistant", actor: "coder", content: "Yes." });
      }
      const said = WORDS.flatMap((word) => [
        { role: "user" as const, actor: "ana", content: `For ${word}: ${"lorem ".repeat(80)}` },
        { role: "assistant" as const, actor: "coder", content: "ipsum ".repeat(80) },
      ]);
      await session.append(said);
      await session.append({ role: "user", actor: "ana", content: "What did I say of it?" });
      return session;
    };
    const textIn = ({ messages }: BuiltContext) =>
      messages.map(({ blocks }) => textOf(blocks)).join("\n");

    for (const pinned of [0, 1_000, 2_000]) {
      test(`is recalled under any budget and turn limit, with ${pinned} tokens pinned`, async () => {
        const session = await talk(pinned);
        const missing: string[] = [];
        const settings: { readonly tokenBudget: number; readonly recentTurns?: number }[] = [
          ...[2_500, 3_700, 4_800].map((tokenBudget) => ({ tokenBudget })),
          { tokenBudget: 4_000, recentTurns: 5 },
        ];
        for (const setting of settings) {
          for (const query of WORDS.filter((_, i) => i % repeats(4, 1) === 0)) {
            const context = await session.buildContext({ ...setting, query });
            expect(context.tokens).toBeLessThanOrEqual(setting.tokenBudget);
            if (!textIn(context).includes(query)) missing.push(`${setting.tokenBudget} ${query}`);
          }
        }
        expect(missing).toEqual([]);
      });
    }

    test("is recalled once, and shown and pinned entries are not", async () => {
      const session = await talk(1_000);
      for (const query of ["rule", ...WORDS]) {
        const { messages } = await session.buildContext({ tokenBudget: 4_000, query });
        const ids = messages.flatMap(({ entryIds }) => entryIds);
        expect(new Set(ids).size).toBe(ids.length);
      }
    });

    test("is cut before a secret, because masking would miss half of one", async () => {
      const session = await tenant().createSession({ agent: "coder", createdBy: "ana" });
      const key = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6";
      const filler = "the heron waits ".repeat(255);
      await session.append([
        { role: "user", actor: "ana", content: `${filler}and ${key} ${filler}` },
        { role: "assistant", actor: "coder", content: "Noted." },
        ...turns(30, 20),
        { role: "user", actor: "ana", content: "what did the heron do?" },
      ]);
      const built = await session.buildContext({ tokenBudget: 5_000, recentTurns: 4 });
      const recalled = built.messages.filter(({ part }) => part === "recalled");
      const text = recalled.map(({ blocks }) => textOf(blocks)).join("\n");
      expect(text).toContain("the heron waits and…");
      expect(text).not.toContain("ghp_");
    });

    test("is recalled for the agent that called the tool", async () => {
      const session = await tenant().createSession({ agent: "coder", createdBy: "ana" });
      const looks = (actor: string, id: string) => ({
        role: "assistant" as const,
        actor,
        content: "I look.",
        toolCalls: [{ id, name: "ibis", arguments: {} }],
        toolResults: [{ id, name: "ibis", output: "4017" }],
      });
      await session.append([
        { role: "user", actor: "ana", content: "look" },
        looks("coder", "t1"),
        looks("planner", "t2"),
        ...turns(30, 20),
        { role: "user", actor: "ana", content: "what did the ibis say?" },
      ]);
      const { messages } = await session.listMessages({ limit: 5 });
      const results = messages.filter(({ role }) => role === "tool").map(({ id }) => id);
      const built = await session.buildContext({
        tokenBudget: 5_000,
        recentTurns: 4,
        filterParticipants: ["ana", "coder"],
      });
      const recalled = built.messages.find(({ part }) => part === "recalled")?.entryIds ?? [];
      expect(results.map((id) => recalled.includes(id))).toEqual([true, false]);
    });
  });
}
