/**
 * A shared conversation from one agent's side.
 *
 * A model knows two roles: itself and the user. Other agents' messages become user messages with
 * their name in front. With several people, each message has its author's name. Tool calls of other
 * agents are left out.
 */

import type { ContextMessage } from "../../context/message.ts";
import type { Block } from "../../model/block.ts";

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
