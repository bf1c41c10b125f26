/**
 * An assistant between a tool and a user.
 *
 * A user who speaks right behind a tool's result has interrupted the assistant. Mistral refuses that
 * order; a few words of the assistant make it legal and change nothing.
 */

import type { Turn } from "./turn.ts";

export const BRIDGE_TEXT = "(Interrupted.)";

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
