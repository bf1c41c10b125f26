/**
 * Inserts an assistant message between a tool result and a user message.
 *
 * A user message follows a tool result directly after an interruption, or when an image was lifted
 * out of the result. Mistral refuses that order; a short assistant message makes it valid.
 */

import type { Turn } from "./turn.ts";

export const BRIDGE_TEXT = "(Received.)";

export function bridgeTools(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn, i): Turn[] => {
    if (turn.role !== "user" || turns[i - 1]?.role !== "tool") return [turn];
    const bridge: Turn = {
      role: "assistant",
      blocks: [{ type: "text", text: BRIDGE_TEXT }],
      aborted: false,
    };
    return [bridge, turn];
  });
}
