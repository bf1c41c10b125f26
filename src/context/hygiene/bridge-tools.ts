/**
 * An assistant between a tool and a user.
 *
 * A user speaks right behind a tool's result who interrupts the assistant, or to whom an image was
 * lifted. Mistral refuses that order; a word of the assistant makes it legal and changes nothing.
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
