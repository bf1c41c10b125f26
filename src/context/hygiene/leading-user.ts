/** Adds a leading user turn, for providers that require one. */

import type { Turn } from "./turn.ts";

export const LEADING_TEXT = "(The conversation continues.)";

/** Puts a minimal user turn before `turns` if they begin with an assistant. */
export function leadingUser(turns: readonly Turn[]): Turn[] {
  if (turns.length === 0 || turns[0]?.role === "user") return [...turns];
  return [{ role: "user", blocks: [{ type: "text", text: LEADING_TEXT }] }, ...turns];
}
