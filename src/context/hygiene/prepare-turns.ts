/**
 * All steps of hygiene, in their order.
 *
 * The order matters: pairs are repaired before turns are merged, so that a merged turn has its
 * results behind it; images are lifted before, as they make user turns; ids come last, when every
 * call has exactly one result. The log is not changed.
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
   * The model that will read the context. Thoughts and opaque blocks of messages that name another one
   * are left out. Without it they are sent to every model of the house that made them.
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
  // A turn that goes leaves two of the other side behind each other.
  const trimmed = rules.thoughtMayEnd ? paired : mergeTurns(trimThoughts(paired));
  const bridged = rules.assistantAfterTool ? bridgeTools(trimmed) : trimmed;
  const started = rules.startsWithUser ? leadingUser(bridged) : bridged;
  return { system, turns: remapIds(started, rules.toolId) };
}
