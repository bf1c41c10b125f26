/** Messages of Mastra, for tests. */

import type { MastraDBMessage } from "@mastra/core/memory";

export const START: number = Date.UTC(2026, 0, 2);

/** The fields of a message beside its text. `at`: milliseconds after the start. */
export interface Said {
  readonly at?: number;
  readonly resourceId?: string;
  readonly role?: "user" | "assistant";
  readonly metadata?: Record<string, unknown>;
}

export const say = (
  threadId: string,
  id: string,
  text: string,
  said: Said = {},
): MastraDBMessage => {
  const { at = 0, resourceId = "ana", role = "user", metadata } = said;
  const content = { format: 2 as const, parts: [{ type: "text" as const, text }] };
  return {
    id,
    threadId,
    resourceId,
    role,
    createdAt: new Date(START + at),
    content: metadata === undefined ? content : { ...content, metadata },
  };
};

/** An answer with a thought, a tool call and its result. */
export const sayWithTool = (threadId: string, id: string, at: number): MastraDBMessage => ({
  ...say(threadId, id, "", { at, role: "assistant" }),
  content: {
    format: 2,
    parts: [
      { type: "step-start" },
      { type: "reasoning", reasoning: "hm", details: [{ type: "text", text: "hm" }] },
      {
        type: "tool-invocation",
        toolInvocation: {
          state: "result",
          toolCallId: "c1",
          toolName: "look",
          args: { pen: 1 },
          result: { animal: "a potoroo" },
        },
      },
      { type: "text", text: "A potoroo." },
    ],
    content: "A potoroo.",
  },
});

export const idsOf = ({ messages }: { readonly messages: readonly MastraDBMessage[] }): string[] =>
  messages.map(({ id }) => id);
