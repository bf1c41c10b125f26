/** Names of tools, where a provider restricts them. A name that is fine stays. */

import type { NameRule } from "./rules.ts";

/**
 * `name` with a `_` for each character that the provider refuses, cut to its length. Two names may
 * become one: in a history that is harmless, since calls and results are tied by their ids.
 */
export function fitName(name: string, rule: NameRule): string {
  const allowed = name.replaceAll(rule.refused, "_");
  const started = rule.startsWithLetter && !/^[a-zA-Z_]/.test(allowed) ? `_${allowed}` : allowed;
  return started.slice(0, rule.maxLength);
}
