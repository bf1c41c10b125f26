/** Tool names where a provider restricts them. A valid name is unchanged. */

import type { NameRule } from "./rules.ts";

/**
 * `name` with `_` for each refused character, cut to the maximum length. Two names may become
 * equal, which is harmless in a history: ids tie calls to results.
 */
export function fitName(name: string, rule: NameRule): string {
  const allowed = name.replaceAll(rule.refused, "_");
  const started = rule.startsWithLetter && !/^[a-zA-Z_]/.test(allowed) ? `_${allowed}` : allowed;
  return started.slice(0, rule.maxLength);
}
