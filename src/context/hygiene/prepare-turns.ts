/**
 * All repair steps, in order.
 *
 * The order matters: images are lifted first, because they make user turns; pairs are repaired
 * before turns are merged, so that results follow a merged turn; ids come last, when every call has
 * exactly one result. The log is not changed.
 */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import type { ContextMessage } from "../chat-model.ts";
import {
  type Addressee,
  cleanText,
  readAssistantBlock,
  readOutput,
  readUserBlock,
} from "./read-block.ts";
import { bridgeTools, leadingUser, liftImages, remapIds, repairPairs } from "./repairs.ts";
import type { ProviderRules } from "./rules.ts";
import type { AssistantTurn, SentResult, Turn, UserTurn } from "./turn.ts";

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

/**
 * Converts the messages of a context to turns.
 *
 * A stored message of any role may hold any block, and system messages may stand anywhere. Leading
 * system messages go to the provider's own place for them. A later one becomes a marked user turn:
 * many providers refuse it there, or move it to the front.
 */
interface Reading {
  /** The joined leading system messages; null if none. */
  readonly system: string | null;
  readonly turns: readonly Turn[];
}

/** Reads `messages` in order. No turn is empty, and none has a block that the addressee refuses. */
export function readTurns(messages: readonly ContextMessage[], to: Addressee): Reading {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === "system" && turns.length === 0) {
      system.push(...message.blocks.flatMap(systemText));
      const rest = message.blocks.filter((block) => block.type !== "text");
      turns.push(...turnsOf({ ...message, blocks: rest }, to));
    } else {
      turns.push(...turnsOf(message, to));
    }
  }
  return { system: system.length === 0 ? null : system.join("\n\n"), turns };
}

function systemText(block: Block): string[] {
  const text = block.type === "text" ? cleanText(block.text) : null;
  return text === null ? [] : [text];
}

/** Results become their own turns, from a message of any role. */
function turnsOf(message: ContextMessage, to: Addressee): Turn[] {
  return runsOf(message.blocks).flatMap(({ results, others }): Turn[] => {
    if (results.length > 0) {
      return [{ role: "tool", results: results.map((result) => readResult(result, to)) }];
    }
    if (message.role === "assistant") {
      const blocks = others.flatMap((block) => readAssistantBlock(block, message.model, to));
      const aborted = message.aborted ?? false;
      return blocks.length > 0 ? [{ role: "assistant", blocks, aborted }] : [];
    }
    const blocks = others.flatMap((block) => readUserBlock(block, to));
    return blocks.length > 0 ? [{ role: "user", blocks: mark(blocks, message.role) }] : [];
  });
}

interface Run {
  readonly results: ToolResultBlock[];
  readonly others: Block[];
}

/** The blocks in order, as runs of results and runs of others. */
function runsOf(blocks: readonly Block[]): Run[] {
  const runs: Run[] = [];
  for (const block of blocks) {
    const isResult = block.type === "tool_result";
    let run = runs.at(-1);
    if (run === undefined || run.results.length > 0 !== isResult) {
      run = { results: [], others: [] };
      runs.push(run);
    }
    if (isResult) run.results.push(block);
    else run.others.push(block);
  }
  return runs;
}

/** The name is the call's; it is known once the result is matched. */
function readResult(block: ToolResultBlock, to: Addressee): SentResult {
  return {
    type: "tool_result",
    toolUseId: block.toolUseId,
    toolName: block.toolName ?? "",
    output: readOutput(block.output, to.rules),
    isError: block.isError,
  };
}

/**
 * Text of the system or of a tool that is sent as a user's is enclosed in tags, because it may be
 * merged with a real user's text.
 */
function mark(blocks: UserTurn["blocks"], role: ContextMessage["role"]): UserTurn["blocks"] {
  if (role === "user") return blocks;
  return blocks.map((block) =>
    block.type === "text"
      ? { type: "text", text: `<${role}_note>\n${block.text}\n</${role}_note>` }
      : block,
  );
}
