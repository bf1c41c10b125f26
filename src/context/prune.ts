/**
 * Shortens old tool results in the context.
 *
 * Most of a long context is stale tool output. Pruning frees that room before a compaction has to:
 * it drops the middle of long results first, then whole old ones. Only the context changes; the log
 * keeps every word. The numbers are openclaw's.
 */

import { type Block, inputTextOf, type ToolResultBlock } from "../model/block.ts";
import type { ContextMessage } from "./chat-model.ts";
import { cutMiddle, lengthOf } from "./cut-text.ts";

export interface PruneOptions {
  /** The model's window. A token is estimated as four characters. */
  readonly windowTokens: number;
  /** The context's tokens if known; else estimated. */
  readonly usedTokens?: number;
  /** The tools whose results may be pruned. Default: all. */
  readonly tools?: ToolFilter;
  readonly limits?: Partial<PruneLimits>;
}

export interface PruneLimits {
  /** Above this share of the window, long results are shortened … */
  readonly trimRatio: number;
  /** … to a head and a tail, if they are longer than this. */
  readonly trimAbove: number;
  readonly headCharacters: number;
  readonly tailCharacters: number;
  /** Above this share, old results are cleared, oldest first, until the share is below it … */
  readonly clearRatio: number;
  /** … if at least this much can be freed: a small gain is not worth a cold prompt cache. */
  readonly clearAbove: number;
  /** Results after the last so many assistant messages are kept. */
  readonly protectedAssistants: number;
}

export const PRUNE_LIMITS: PruneLimits = {
  trimRatio: 0.3,
  trimAbove: 4_000,
  headCharacters: 1_500,
  tailCharacters: 1_500,
  clearRatio: 0.5,
  clearAbove: 50_000,
  protectedAssistants: 3,
};

export const CLEARED_RESULT = "[Old tool result content cleared]";

/** The size assumed for any image. */
const IMAGE_CHARACTERS = 8_000;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Returns `messages` with old tool results shortened or cleared, if the window is full enough.
 *
 * Leaves alone: messages before the first user message, the protected end, pinned messages, and
 * results with an image. Results keep their place, id and error flag. A context with fewer
 * assistant messages than are protected stays as it is.
 */
export function pruneToolResults(
  messages: readonly ContextMessage[],
  options: PruneOptions,
): ContextMessage[] {
  const limits = { ...PRUNE_LIMITS, ...options.limits };
  const window = options.windowTokens * CHARACTERS_PER_TOKEN;
  let used = (options.usedTokens ?? 0) * CHARACTERS_PER_TOKEN;
  if (options.usedTokens === undefined) used = sum(messages, ({ blocks }) => sizeOf(blocks));

  const pruned = new Map<ToolResultBlock, string>();
  const replace = (result: ToolResultBlock, before: string, after: string) => {
    pruned.set(result, after);
    used -= lengthOf(before) - lengthOf(after);
  };

  if (used < window * limits.trimRatio) return [...messages];
  const prunable = prunableResults(messages, limits.protectedAssistants, options.tools);
  for (const [result, text] of prunable) {
    if (lengthOf(text) > limits.trimAbove) replace(result, text, shorten(text, limits));
  }
  const textNow = (result: ToolResultBlock, text: string) => pruned.get(result) ?? text;
  const left = sum(prunable, ([result, text]) => lengthOf(textNow(result, text)));
  for (const [result, text] of left < limits.clearAbove ? [] : prunable) {
    if (used < window * limits.clearRatio) break;
    replace(result, textNow(result, text), CLEARED_RESULT);
  }
  return messages.map((message) => withOutputs(message, pruned));
}

/** The results that may be pruned with their texts, oldest first. */
function prunableResults(
  messages: readonly ContextMessage[],
  protectedAssistants: number,
  filter: ToolFilter | undefined,
): [ToolResultBlock, string][] {
  const assistants = messages.flatMap(({ role }, i) => (role === "assistant" ? [i] : []));
  if (assistants.length < protectedAssistants) return [];
  const start = messages.findIndex(isUserSpeaking);
  if (start < 0) return [];
  const end = protectedAssistants === 0 ? messages.length : assistants.at(-protectedAssistants);
  const mayPrune = toolPicker(filter);
  const nameOf = toolNames(messages);
  return messages.slice(start, end).flatMap(({ part, blocks }) =>
    part === "pinned"
      ? []
      : blocks.flatMap((block): [ToolResultBlock, string][] => {
          if (block.type !== "tool_result" || !mayPrune(nameOf(block))) return [];
          const text = textOfOutput(block.output);
          // Keep results that are not longer than their placeholder.
          if (text === null || text.length <= CLEARED_RESULT.length) return [];
          return [[block, text]];
        }),
  );
}

/** Some agents store results as user messages; those are not user turns. */
function isUserSpeaking({ role, blocks }: ContextMessage): boolean {
  return role === "user" && blocks.some((block) => block.type !== "tool_result");
}

/** All text of a result; null if it has an image, which cannot be shortened. */
function textOfOutput(output: ToolResultBlock["output"]): string | null {
  if (typeof output === "string") return output;
  if (output.some((block) => block.type === "image")) return null;
  return output
    .flatMap((block) => {
      if (block.type === "text") return [block.text];
      return block.type === "opaque" ? [block.json] : [];
    })
    .join("\n");
}

function shorten(text: string, limits: PruneLimits): string {
  const { headCharacters: head, tailCharacters: tail } = limits;
  const note = `[Tool result shortened: its first ${head} and last ${tail} of ${lengthOf(text)} characters.]`;
  return `${cutMiddle(text, head, tail)}\n\n${note}`;
}

function withOutputs(
  message: ContextMessage,
  outputs: ReadonlyMap<ToolResultBlock, string>,
): ContextMessage {
  if (!message.blocks.some((block) => block.type === "tool_result" && outputs.has(block))) {
    return message;
  }
  const blocks = message.blocks.map((block) => {
    const output = block.type === "tool_result" ? outputs.get(block) : undefined;
    return output === undefined ? block : { ...block, output };
  });
  return { ...message, blocks };
}

function sizeOf(blocks: readonly Block[]): number {
  return sum(blocks, (block) => {
    switch (block.type) {
      case "text":
      case "thinking":
        return lengthOf(block.text);
      case "tool_use":
        return lengthOf(inputTextOf(block));
      case "tool_result":
        return typeof block.output === "string" ? lengthOf(block.output) : sizeOf(block.output);
      case "image":
        return IMAGE_CHARACTERS;
      case "opaque":
        return lengthOf(block.json);
    }
  });
}

function sum<T>(items: readonly T[], size: (item: T) => number): number {
  return items.reduce((total, item) => total + size(item), 0);
}

/**
 * Allow and deny lists of tools, as glob patterns.
 *
 * Patterns of names: `*` matches anything, case is ignored.
 */
export interface ToolFilter {
  /** Empty or absent: all. */
  readonly allow?: readonly string[];
  /** Takes precedence over `allow`. */
  readonly deny?: readonly string[];
}

/** A predicate for names by `filter`. */
export function toolPicker(filter: ToolFilter = {}): (name: string) => boolean {
  const allow = (filter.allow ?? []).map(patternOf);
  const deny = (filter.deny ?? []).map(patternOf);
  return (name) => {
    if (deny.some((matches) => matches(name))) return false;
    return allow.length === 0 || allow.some((matches) => matches(name));
  };
}

/** A function from a result to its tool's name: its own field, else the last call of its id. */
export function toolNames(
  messages: readonly ContextMessage[],
): (result: ToolResultBlock) => string {
  const names = new Map<string, string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool_use") names.set(block.id, block.name);
  }
  return ({ toolName, toolUseId }) => toolName ?? names.get(toolUseId) ?? "";
}

/** Greedy glob matching: the pieces between the stars in order, linear for any pattern. */
function patternOf(glob: string): (name: string) => boolean {
  const [head = "", ...pieces] = glob.trim().toLowerCase().split(/\*+/);
  const tail = pieces.pop();
  return (given) => {
    const name = given.toLowerCase();
    if (tail === undefined) return name === head;
    if (name.length < head.length + tail.length) return false;
    if (!name.startsWith(head) || !name.endsWith(tail)) return false;
    const middle = name.slice(head.length, name.length - tail.length);
    let from = 0;
    for (const piece of pieces) {
      const at = middle.indexOf(piece, from);
      if (at < 0) return false;
      from = at + piece.length;
    }
    return true;
  };
}
