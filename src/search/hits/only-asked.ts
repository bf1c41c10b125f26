/**
 * Sessions that only asked: a question, perhaps calls of our own tools, and nothing beyond what
 * these gave. They have the words of a question better than the session that answers it.
 */

import { type Block, inputTextOf, textOf } from "../../model/block.ts";
import type { Language } from "../analysis/analyze.ts";
import { opensInjected, withoutInjected } from "../document/injected.ts";
import { isOwnTool } from "../document/own-tools.ts";
import type { WindowEntry } from "../port.ts";
import { contentWordsOf } from "./statement.ts";

/** The most messages of a session that only asked: some searches, some pages read. */
export const MAX_ASKED: number = 32;

/** A longer question has statements of its own. */
const MAX_QUESTION = 600;
/** The share of words in an answer that were neither asked nor recalled, and their number. */
const OWN_SHARE = 0.4;
const OWN_WORDS = 4;

export interface Question {
  readonly words: ReadonlySet<string>;
  /** Whether our own tools were called. */
  readonly isRecalled: boolean;
}

/**
 * The question in the messages of a whole session, or in some that follow each other; undefined:
 * something else was said or done in them.
 */
export function readOnlyAsked(
  entries: readonly WindowEntry[],
  language: Language,
): Question | undefined {
  const calls = new Set<string>();
  const known = new Set<string>();
  let asked: Set<string> | undefined;
  let isPlain = true;
  const add = (text: string) => {
    const words = contentWordsOf(text, language);
    for (const word of words) known.add(word);
    return words;
  };
  for (const { role, blocks } of entries) {
    for (const block of blocks) {
      if (block.type === "tool_use") {
        if (!recalls(block)) return undefined;
        calls.add(block.id);
      } else if (block.type === "tool_result") {
        const { toolName = "", toolUseId, output } = block;
        if (!calls.has(toolUseId) && !isOwnTool(toolName)) return undefined;
        // A page of an own result may come without its call.
        calls.add(toolUseId);
        add(typeof output === "string" ? output : textOf(output));
      }
    }
    const text = textOf(blocks).trim();
    if (text === "" || role === "system" || role === "tool" || role === null) continue;
    if (role === "assistant") {
      // What an agent says before it has recalled anything is its own, unless it then recalls.
      const isCalling = blocks.some(({ type }) => type === "tool_use");
      if (calls.size === 0 || (!isCalling && isOwn(text, known, language))) return undefined;
    } else if (role === "user" && !opensInjected(text)) {
      const said = withoutInjected(text).trim();
      if (said.length > MAX_QUESTION) return undefined;
      const isQuestion = /[?？]\s*$/.test(said);
      if (asked !== undefined && !isQuestion && isOwn(said, known, language)) return undefined;
      isPlain &&= isQuestion;
      const words = add(said);
      asked = new Set([...(asked ?? []), ...words]);
    }
  }
  // Without a call of ours it is a question only if it is written as one.
  const isRecalled = calls.size > 0;
  if (!isRecalled && (!isPlain || asked === undefined)) return undefined;
  return { words: asked ?? new Set(), isRecalled };
}

/** The share of the words of the shorter question. */
const SAME_SHARE = 0.7;

/** Whether two questions have most of their words in common. */
export function isSameQuestion(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared > 0 && shared >= SAME_SHARE * Math.min(one.size, other.size);
}

/** A call of ours, also by the command line, or one that loads our tools. */
function recalls(call: Extract<Block, { type: "tool_use" }>): boolean {
  return (
    isOwnTool(call.name) ||
    /^tool_?search/i.test(call.name) ||
    /backscroll/i.test(inputTextOf(call))
  );
}

function isOwn(text: string, known: ReadonlySet<string>, language: Language): boolean {
  const words = [...contentWordsOf(text, language)];
  const own = words.filter((word) => !known.has(word)).length;
  return own > OWN_WORDS && own > OWN_SHARE * words.length;
}
