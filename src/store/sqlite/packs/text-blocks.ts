/**
 * Splits a message's content into its text blocks and the rest.
 *
 * Some agents write a whole turn as one message: a thought, an answer and tool calls. The answer
 * stays in the entry's row, as a list of its text blocks; the rest goes into the pack, with a mark
 * in place of each text block. Both are slices of the content, byte for byte, because the entry's
 * hash covers it.
 */

export interface SplitContent {
  /** Begins with a space, unlike any whole content. */
  readonly texts: string;
  readonly rest: string;
}

const START = '{"type":"text","text":"';

/** Marks a block's place in the rest. JSON never contains this character. */
const MARK = "\u0001";

/** Undefined for content that is better unsplit, or whose texts are ambiguous. */
export function splitTextBlocks(content: string): SplitContent | undefined {
  // Texts inside other blocks do not count.
  if (!content.startsWith("[")) return undefined;
  // A single text block.
  if (content.lastIndexOf('{"type":') === 1) return undefined;
  // Tool results may be text as well, but are packed.
  if (content.includes('"tool_result"') || content.includes(MARK)) return undefined;
  const blocks: string[] = [];
  let rest = "";
  let end = 0;
  for (const span of textBlocks(content)) {
    blocks.push(content.slice(span.start, span.end));
    rest += content.slice(end, span.start) + MARK;
    end = span.end;
  }
  rest += content.slice(end);
  const isSplittable = blocks.length > 0 && !rest.includes('"type":"text"');
  return isSplittable ? { texts: ` [${blocks.join(",")}]`, rest } : undefined;
}

/** Whether a row holds only the text blocks of its content. */
export function isSplit(content: string): boolean {
  return content.startsWith(" ");
}

/** The content that was split. */
export function joinTextBlocks({ texts, rest }: SplitContent): string {
  const blocks = textBlocks(texts).map(({ start, end }) => texts.slice(start, end));
  return rest.split(MARK).reduce((whole, part, i) => whole + (blocks[i - 1] ?? "") + part);
}

/** Text blocks only. Quotes inside a text are escaped, so no block begins there. */
function textBlocks(json: string): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  let start = json.indexOf(START);
  while (start >= 0) {
    const quote = closingQuote(json, start + START.length);
    if (json[quote + 1] === "}") spans.push({ start, end: quote + 2 });
    start = json.indexOf(START, quote);
  }
  return spans;
}

/** The end of the text that continues at `from`. */
function closingQuote(json: string, from: number): number {
  let quote = json.indexOf('"', from);
  while (quote >= 0 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote < 0 ? json.length : quote;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
