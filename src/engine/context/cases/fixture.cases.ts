/** Fixture of the context and compaction cases. */

import type { Summarizer } from "../../../compaction/summary.ts";
import type { ContextMessage } from "../../../context/chat-model.ts";
import { textOf } from "../../../model/block.ts";
import type { MessageInput } from "../../message-input.ts";
import type { TenantEngine } from "../../tenant-engine.ts";

export interface ContextCases {
  /** A tenant that no other case uses. */
  tenant(): TenantEngine;
}

/** `count` turns of a question and an answer, about `tokens` tokens each. */
export function turns(count: number, tokens = 500, from = 1): MessageInput[] {
  const filler = " lorem".repeat(Math.max(1, Math.floor((tokens * 4) / 6)));
  return Array.from({ length: count }, (_, i) => [
    { role: "user" as const, actor: "ana", content: `question ${from + i}${filler}` },
    { role: "assistant" as const, actor: "coder", content: `answer ${from + i}${filler}` },
  ]).flat();
}

/** The first two words of each message, or the name of its part. */
export function outline(messages: readonly ContextMessage[]): string[] {
  return messages.map(({ part, blocks }) =>
    part === "recent" ? textOf(blocks).split(" ").slice(0, 2).join(" ") : part,
  );
}

/** A summarizer with a given answer, of any delay. */
export function saying(text: string, meanwhile?: () => Promise<unknown>): Summarizer {
  return {
    name: "scripted",
    summarize: async () => {
      await meanwhile?.();
      return { text, model: "m-1", finishReason: "stop" };
    },
  };
}

/** A barrier: each of `count` calls waits for the last of them. */
export function barrierOf(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = count;
  return () => {
    missing--;
    if (missing === 0) resolve();
    return promise;
  };
}
