/** The policy of one session: the host's choice with the overrides in the session's metadata. */

import { readCompactionPolicy } from "../../compaction/policy.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { type AutoPolicy, nonePolicy } from "./auto-policy.ts";

/**
 * `metadata.compaction` has the triggers of `turns`; `strategy: "never"` and `enabled: false`
 * switch any policy off for the session. Unknown values are reported and ignored.
 */
export function sessionPolicy(
  policy: AutoPolicy,
  metadata: JsonObject,
): { readonly policy: AutoPolicy; readonly problems: readonly string[] } {
  const own = metadata["compaction"];
  if (own === undefined) return { policy, problems: [] };
  if (isPlainObject(own) && own["enabled"] === false) {
    return { policy: nonePolicy(), problems: [] };
  }
  const read = readCompactionPolicy(metadata);
  const { problems } = read;
  if (read.policy.strategy === "never") return { policy: nonePolicy(), problems };
  if (policy.name !== "turns" || !isPlainObject(own)) return { policy, problems };
  const { triggerTurns, triggerTokens } = read.policy;
  return {
    policy: {
      ...policy,
      ...(own["triggerTurns"] === undefined ? {} : { triggerTurns }),
      ...(own["triggerTokens"] === undefined ? {} : { triggerTokens }),
    },
    problems,
  };
}
