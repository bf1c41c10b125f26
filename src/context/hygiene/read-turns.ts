/**
 * Converts the messages of a context to turns.
 *
 * A stored message of any role may hold any block, and system messages may stand anywhere. Leading
 * system messages go to the provider's own place for them. A later one becomes a marked user turn:
 * many providers refuse it there, or move it to the front.
 */

import type { Block, ToolResultBlock } from "../../model/block.ts";
import type { ContextMessage } from "../message.ts";
import { cleanText } from "./clean-text.ts";
import { type Addressee, readAssistantBlock, readOutput, readUserBlock } from "./read-block.ts";
import type { SentResult, Turn, UserTurn } from "./turn.ts";

export interface Reading {
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
