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
import { type Reading, readTurns } from "./read-turns.ts";
import { remapIds } from "./remap-ids.ts";
import { repairPairs } from "./repair-pairs.ts";
import type { ProviderRules } from "./rules.ts";
import type { AssistantTurn, Turn } from "./turn.ts";

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

/**
 * Merges neighbouring turns of one role.
 *
 * Several providers refuse two turns of the same role in a row, and a context often has them: a
 * summary and the question after it are both the user's.
 *
 * Joins neighbours of the same role. Every block is kept, in order.
 */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const runs: Turn[][] = [];
  for (const turn of turns) {
    const run = runs.at(-1);
    if (run?.[0]?.role === turn.role) run.push(turn);
    else runs.push([turn]);
  }
  return runs.flatMap((run) => (run.length === 1 ? run : [join(run)]));
}

/** Joins turns of one role. */
function join(run: readonly Turn[]): Turn {
  const users = run.filter((turn) => turn.role === "user");
  if (users.length > 0) return { role: "user", blocks: users.flatMap(({ blocks }) => blocks) };
  const tools = run.filter((turn) => turn.role === "tool");
  if (tools.length > 0) return { role: "tool", results: tools.flatMap(({ results }) => results) };
  const assistants = run.filter((turn) => turn.role === "assistant");
  return {
    role: "assistant",
    blocks: assistants.flatMap(({ blocks }) => blocks),
    aborted: assistants.some(({ aborted }) => aborted),
  };
}

/**
 * Drops trailing thoughts.
 *
 * An assistant that was stopped while it thought leaves a turn that ends in a thought. Providers
 * that sign thoughts refuse such a turn.
 *
 * Drops the thoughts at the end of assistant turns, and turns of thoughts alone.
 */
function trimThoughts(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== "assistant") return [turn];
    const end = turn.blocks.findLastIndex((block) => !isThought(block)) + 1;
    if (end === turn.blocks.length) return [turn];
    return end === 0 ? [] : [{ ...turn, blocks: turn.blocks.slice(0, end) }];
  });
}

function isThought(block: AssistantTurn["blocks"][number]): boolean {
  if (block.type === "thinking") return true;
  if (block.type !== "opaque") return false;
  // Anthropic's and OpenAI's names for a sealed thought.
  return block.value["type"] === "redacted_thinking" || block.value["type"] === "reasoning";
}
