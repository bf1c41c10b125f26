/**
 * Contexts of every session of a store, for five budgets and each provider: failures, invalid
 * requests, exceeded budgets, and budgets that give less than a smaller one.
 */

import { PROVIDERS, renderContext } from "../src/context/render/render.ts";
import { VIOLATIONS } from "../test/support/provider-rules/index.ts";
import { open } from "./library.ts";
import type { Figures } from "./measure.ts";
import { renderedTokens } from "./rendered-tokens.ts";

const BUDGETS = [256, 1_000, 4_000, 16_000, 64_000] as const;

export async function fitAll({ address }: { readonly address: string }): Promise<Figures> {
  await using memory = await open(address);
  const figures = {
    sessions: 0,
    empty: 0,
    contexts: 0,
    failed: 0,
    invalid: 0,
    overBudget: 0,
    notMonotonic: 0,
  };
  const tell = (...words: unknown[]) => console.error(...words);
  let cursor: string | undefined;
  do {
    const page = await memory.listSessions({
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id } of page.sessions) {
      figures.sessions++;
      const session = await memory.getSession(id);
      let before = { messages: 0, bytes: 0 };
      for (const tokenBudget of BUDGETS) {
        try {
          const { messages, tokens } = await session.buildContext({
            tokenBudget,
            semanticRecall: false,
          });
          if (messages.length === 0) figures.empty++;
          const bytes = messages.reduce((all, { blocks }) => all + bytesOf(blocks), 0);
          const now = { messages: messages.length, bytes };
          const isLess =
            now.messages < before.messages ||
            (now.messages === before.messages && now.bytes < before.bytes);
          if (isLess) {
            figures.notMonotonic++;
            tell("less", id, tokenBudget, before, now);
          }
          before = now;
          for (const provider of PROVIDERS) {
            figures.contexts++;
            const rendered = renderContext(messages, provider);
            const wrong = VIOLATIONS[provider](rendered);
            if (wrong.length > 0) {
              figures.invalid++;
              tell("invalid", id, tokenBudget, provider, wrong.slice(0, 2));
            }
            const most = Math.max(tokens, renderedTokens(rendered));
            if (most > tokenBudget) {
              figures.overBudget++;
              tell("over", id, tokenBudget, provider, most);
            }
          }
        } catch (error) {
          figures.failed += PROVIDERS.length;
          tell("failed", id, tokenBudget, (error as Error).message);
        }
      }
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return figures;
}

function bytesOf(blocks: unknown): number {
  return Buffer.byteLength(JSON.stringify(blocks));
}
