/**
 * All repair steps, in order.
 *
 * The order matters: images are lifted first, because they make user turns; pairs are repaired
 * before turns are merged, so that results follow a merged turn; ids come last, when every call has
 * exactly one result. The log is not changed.
 */

import type { ContextMessage } from "../message.ts";
import { bridgeTools } from "./bridge-tools.ts";
import { leadingUser } from "./leading-user.ts";
import { liftImages } from "./lift-images.ts";
import { mergeTurns } from "./merge-turns.ts";
import { type Reading, readTurns } from "./read-turns.ts";
import { remapIds } from "./remap-ids.ts";
import { repairPairs } from "./repair-pairs.ts";
import type { ProviderRules } from "./rules.ts";
import { trimThoughts } from "./trim-thoughts.ts";

export interface RenderOptions {
  /**
   * The reading model. Thoughts and opaque blocks of other models are left out. Without it, all
   * models of the family that made them get them.
   */
  readonly model?: string;
}

export function prepareTurns(
  messages: readonly ContextMessage[],
  rules: ProviderRules,
  options: RenderOptions,
): Reading {
  const { system, turns } = readTurns(messages, { rules, model: options.model ?? null });
  const paired = mergeTurns(liftImages(repairPairs(turns), rules.images.inResults));
  // A dropped turn leaves two turns of the other role in a row.
  const trimmed = rules.thoughtMayEnd ? paired : mergeTurns(trimThoughts(paired));
  const bridged = rules.assistantAfterTool ? bridgeTools(trimmed) : trimmed;
  const started = rules.startsWithUser ? leadingUser(bridged) : bridged;
  return { system, turns: remapIds(started, rules.toolId) };
}
