/** Reads the context for a model call, smaller after each overflow, as one agent of a conversation sees it. */

import type { ContextMessage } from "../../context/chat-model.ts";
import type { BuiltContext } from "../../engine/context/build-context.ts";
import type { BuildContextInput } from "../../engine/context/context-options.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { Block } from "../../model/block.ts";
import { BackscrollError } from "../../model/errors.ts";

/**
 * Pinned text is never cut: after an overflow the budget grows to hold it, at most to `whole`, the
 * budget before the overflow.
 */
export async function readContext(
  session: SessionHandle,
  input: Omit<BuildContextInput, "tokenBudget">,
  tokenBudget: number,
  whole: number,
): Promise<BuiltContext> {
  try {
    return await session.buildContext({ ...input, tokenBudget });
  } catch (error) {
    if (!BackscrollError.is(error, "budget_too_small") || tokenBudget >= whole) throw error;
    const needed = Math.min(Number(error.details["needed"]), whole);
    return session.buildContext({ ...input, tokenBudget: needed });
  }
}

/** Builds of a context before it is sent again; each takes milliseconds, a refusal seconds. */
const BUILDS = 6;

/**
 * As `readContext`, and close to the budget, by bisection. A budget bounds what any provider's
 * rendering may take, so that a context of short messages ends well below it: after a refusal
 * that would waste the window.
 */
export async function readNear(
  session: SessionHandle,
  input: Omit<BuildContextInput, "tokenBudget">,
  tokenBudget: number,
  whole: number,
): Promise<BuiltContext> {
  let best = await readContext(session, input, tokenBudget, whole);
  let [low, high] = [tokenBudget, Math.min(whole, 3 * tokenBudget)];
  for (let i = 1; i < BUILDS && best.tokens < 0.95 * tokenBudget && low < high; i++) {
    const middle = Math.ceil((low + high) / 2);
    const larger = await readContext(session, input, middle, whole);
    if (larger.tokens > tokenBudget) {
      high = middle - 1;
    } else {
      [best, low] = [larger, middle];
    }
  }
  return best;
}

// A shared conversation from one agent's side.
//
// A model knows two roles: itself and the user. Other agents' messages become user messages with
// their name in front. With several people, each message has its author's name. Tool calls of other
// agents are left out.

/** `me` is the answering actor. Messages without an actor stay as they are. */
export function seenBy(messages: readonly ContextMessage[], me: string): ContextMessage[] {
  /** Whether the newest call with an id was `me`'s: agents may use the same ids. */
  const isOwn = new Map<string, boolean>();
  const isShared = speakers(messages, me).size > 1;
  return messages.flatMap((message) => {
    const { role, actor, blocks } = message;
    if (role === "assistant") {
      for (const block of blocks) {
        if (block.type === "tool_use") isOwn.set(block.id, !isOther(actor, me));
      }
    }
    if (role === "tool") {
      const kept = blocks.filter((b) => b.type !== "tool_result" || isOwn.get(b.toolUseId));
      return kept.length === 0 ? [] : [{ ...message, blocks: kept }];
    }
    if (role === "assistant" && isOther(actor, me)) {
      const said = blocks.filter((block) => block.type === "text" || block.type === "image");
      const named = withName(said, actor);
      return named.length === 0 ? [] : [{ ...message, role: "user" as const, blocks: named }];
    }
    if (role !== "user" || !isShared || actor === null) return [message];
    return [{ ...message, blocks: withName(blocks, actor) }];
  });
}

function isOther(actor: string | null, me: string): actor is string {
  return actor !== null && actor !== me;
}

/** All actors except `me` and tools. */
function speakers(messages: readonly ContextMessage[], me: string): Set<string> {
  const others = messages.filter(({ role }) => role === "user" || role === "assistant");
  return new Set(others.flatMap(({ actor }) => (isOther(actor, me) ? [actor] : [])));
}

/** Puts the name before the first text; without text, the name stands alone. */
function withName(blocks: readonly Block[], actor: string): Block[] {
  if (blocks.length === 0) return [];
  const first = blocks.findIndex((block) => block.type === "text");
  if (first < 0) return [{ type: "text", text: `[${actor}]` }, ...blocks];
  return blocks.map((block, i) =>
    i === first && block.type === "text" ? { ...block, text: `[${actor}] ${block.text}` } : block,
  );
}
