/** Cuts text by bytes, as answers are measured in bytes. */

const encoder = new TextEncoder();
const MARK = "…";
const MARK_BYTES = 3;

/** The head of `text` within `limit` bytes, with a mark if it was cut. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return text;
  const room = new Uint8Array(Math.max(0, limit - MARK_BYTES));
  const { read } = encoder.encodeInto(text, room);
  return `${text.slice(0, read)}${MARK}`;
}

const OPENING = "<recalled-context>";
const CLOSING = "\n</recalled-context>";

/** As `cutToBytes`; closes the quoting element at the cut. */
export function cutQuoted(text: string, limit: number): string {
  const cut = cutToBytes(text, limit);
  const isOpen = cut.includes(OPENING) && text.includes(CLOSING) && !cut.includes(CLOSING);
  return isOpen ? `${cutToBytes(text, limit - CLOSING.length)}${CLOSING}` : cut;
}
