/** A history that an assistant begins, for providers that want a user first. */

import type { Turn } from "./turn.ts";

export const LEADING_TEXT = "(The conversation continues.)";

/** Puts a tiny user turn before `turns` unless a user begins them, or there are none. */
export function leadingUser(turns: readonly Turn[]): Turn[] {
  if (turns.length === 0 || turns[0]?.role === "user") return [...turns];
  return [{ role: "user", blocks: [{ type: "text", text: LEADING_TEXT }] }, ...turns];
}
