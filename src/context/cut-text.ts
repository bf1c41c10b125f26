/** Cuts of long texts and blocks. */

import { type Block, inputTextOf, type ToolResultBlock } from "../model/block.ts";
import { endOutsideSecret, startOutsideSecret } from "../secrets/cut-outside-secrets.ts";

// Cuts the middle of a long text to a number of tokens (binary search), with a note of the cut
// amount.
//
// The token counter is a black box: it may be any tokenizer. Only texts of about the result's size
// are counted, so a text of megabytes costs no more than a short one.

/** A lower bound of tokenizers: at most this many characters of ordinary text per token. */
const MOST_CHARACTERS_A_TOKEN = 8;

/** The note for `left` of `total` missing characters (UTF-16 units). */
type CutNote = (left: number, total: number) => string;

/**
 * Head and tail of `text` within `keep` by `count`; monotonic in `keep`. Only the note if even that
 * exceeds it.
 */
export function cutText(
  text: string,
  keep: number,
  count: (text: string) => number,
  note: CutNote,
): string {
  const make = (kept: number, isLast = false): string => {
    const end = headEnd(text, Math.ceil(kept / 2));
    const start = tailStart(text, Math.floor(kept / 2));
    const head = isLast ? endOutsideSecret(text, end) : end;
    const tail = isLast ? startOutsideSecret(text, start) : start;
    const words = note(tail - head, text.length);
    return [text.slice(0, head), words, text.slice(tail)]
      .filter((part) => part !== "")
      .join("\n")
      .toWellFormed();
  };
  let [low, high] = [0, Math.min(text.length - 1, Math.max(0, keep) * MOST_CHARACTERS_A_TOKEN)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(make(middle)) <= keep) low = middle;
    else high = middle - 1;
  }
  // The note may grow by a token where a secret is left out.
  let cut = make(low, true);
  while (low > 0 && count(cut) > keep) {
    low = Math.max(0, low - MOST_CHARACTERS_A_TOKEN);
    cut = make(low, true);
  }
  return cut;
}

/** Splits no surrogate pair. */
function headEnd(text: string, length: number): number {
  return length > 0 && isHigh(text.charCodeAt(length - 1)) ? length - 1 : length;
}

function tailStart(text: string, length: number): number {
  const start = text.length - length;
  return length > 0 && isLow(text.charCodeAt(start)) ? start + 1 : start;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/**
 * `block` cut to about `keep` by `sizeOf`; null if it cannot be shown. Signed and opaque blocks are
 * useless once cut, so they are dropped whole.
 */
export function cutBlock(
  block: Block,
  keep: number,
  entryId: string,
  sizeOf: (block: Block) => number,
): Block | null {
  const note = noteOf(entryId);
  const cut = (text: string, make: (text: string) => Block): Block => {
    const whole = make(text);
    if (sizeOf(whole) <= keep) return whole;
    return make(cutText(text, keep, (words) => sizeOf(make(words)), note));
  };
  switch (block.type) {
    case "text":
      return cut(block.text, (text) => ({ type: "text", text }));
    case "tool_use": {
      const { id, name } = block;
      if (sizeOf(block) <= keep) return block;
      // Providers require an object; the call's signature is invalid for other arguments.
      const make = (text: string): Block => ({
        type: "tool_use",
        id,
        name,
        input: JSON.stringify({ _cut: text }),
      });
      return make(cutText(inputTextOf(block), keep, (words) => sizeOf(make(words)), note));
    }
    case "tool_result":
      return cut(outputText(block), (output) => ({ ...block, output }));
    case "image":
      return { type: "text", text: `[image left out; to see it: ${howToRead(entryId)}]` };
    default:
      return null;
  }
}

/** The note that replaces dropped parts of a turn. */
export function leftOutNote(messages: number, parts: number, entryId: string): string {
  const counted = [
    ...(messages === 0 ? [] : [`${messages} ${messages === 1 ? "message" : "messages"}`]),
    ...(parts === 0 ? [] : [`${parts} ${parts === 1 ? "part" : "parts"} of messages`]),
  ].join(" and ");
  return `[… ${counted} left out; to read on from there: ${howToRead(entryId)} …]`;
}

export function noteOf(entryId: string): CutNote {
  return (left, total) =>
    `[… ${left} of ${total} characters left out; to read them: ${howToRead(entryId)} …]`;
}

function howToRead(entryId: string): string {
  return `list_messages around ${entryId}`;
}

/** The text of an output; other blocks are named. */
export function outputText({ output }: ToolResultBlock): string {
  if (typeof output === "string") return output;
  return output
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "image" ? "[image left out]" : `[${block.type} left out]`;
    })
    .filter((text) => text !== "")
    .join("\n");
}

// The head and tail of a long text.
//
// Lengths are in code points: a cut by UTF-16 unit can leave half a surrogate pair, which some
// providers refuse in every later request.

/** The first `head` and the last `tail` characters of `text`, if it has more than both together. */
export function cutMiddle(text: string, head: number, tail: number): string {
  if (lengthOf(text) <= head + tail) return text;
  const end = endOutsideSecret(text, indexOf(text, head));
  const start = startOutsideSecret(text, indexFromEnd(text, tail));
  return `${text.slice(0, end)}\n...\n${text.slice(start)}`;
}

export function lengthOf(text: string): number {
  // Most texts have none, and a regular expression is much faster than the loop.
  if (!/[\ud800-\udfff]/.test(text)) return text.length;
  let pairs = 0;
  for (let i = 1; i < text.length; i++) if (isPair(text, i)) pairs++;
  return text.length - pairs;
}

/** The index of the character after the first `count`. */
function indexOf(text: string, count: number): number {
  let index = 0;
  for (let i = 0; i < count && index < text.length; i++) index += isPair(text, index + 1) ? 2 : 1;
  return index;
}

/** The index of the last `count` characters. */
function indexFromEnd(text: string, count: number): number {
  let index = text.length;
  for (let i = 0; i < count && index > 0; i++) index -= isPair(text, index - 1) ? 2 : 1;
  return index;
}

/** Whether the unit at `index` is a low surrogate after a high one. */
function isPair(text: string, index: number): boolean {
  return (
    (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800
  );
}
